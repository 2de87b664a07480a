/* Which of some texts hold a mark. `rl_pipeline.reader.text_marks` calls this, says what the arguments are, and gives room
 * that is large enough; nothing here allocates, and nothing is written beyond what is said there.
 *
 * Bytes of a text are anybody's: every place that comes from them is compared with an end before it is used.
 */

#include <stdint.h>
#include <string.h>

#if defined(_WIN32)
#define PUBLIC __declspec(dllexport)
#else
#define PUBLIC __attribute__((visibility("default")))
#endif

#ifndef SOURCE_DIGEST
#define SOURCE_DIGEST ""
#endif

enum { MOST_WORDS = 255 };
enum { ANYWHERE = 1, AT_EDGE = 2, WITH_SIGN = 3 };                  /* where a word is a mark */
enum { HOLDS_MARK = 1, HOLDS_SIGN = 2, HOLDS_WORD_FOR_SIGN = 4 };   /* what was seen of a text */

typedef struct {
    const uint8_t *at;
    int64_t size;
} text_t;

typedef struct {
    text_t end_of_line;
    const uint8_t *stretches; /* end to end */
    const int64_t *ends;
    int64_t count;
} frame_t;

typedef struct {
    const uint8_t *words; /* end to end, numbered from 1 */
    const int64_t *ends;
    const uint8_t *kinds;
    uint8_t sign;
    uint8_t first[1 << 16], next[MOST_WORDS + 1]; /* words that begin with a pair of bytes: one, and the others */
} marks_t;

/* The digest of the source that this was compiled from. */
PUBLIC const char *source_digest(void) { return SOURCE_DIGEST; }

static inline uint8_t small(uint8_t byte) { return (uint8_t)(byte - 'A') < 26 ? byte + 32 : byte; }

static int is_digit(uint8_t byte) { return (uint8_t)(byte - '0') < 10; }

static int is_word_byte(uint8_t byte) { return is_digit(byte) || (uint8_t)(small(byte) - 'a') < 26; }

static int is_hexadecimal(uint8_t byte) { return is_digit(byte) || (uint8_t)(small(byte) - 'a') < 6; }

/* Whether a word may begin at a place: no letter or digit stands before it, but for those of an escape. */
static int is_edge(text_t text, int64_t place) {
    const uint8_t *before = text.at + place;
    uint8_t last;
    if (place < 1 || !is_word_byte(before[-1])) return 1;
    last = small(before[-1]);
    if (place < 2) return 0;
    if ((last == 'n' || last == 'r' || last == 't') && before[-2] == '\\') return 1;
    if ((last == 'm' || last == 'k') && is_digit(before[-2])) return 1;
    return place > 2 && before[-3] == '%' && is_hexadecimal(before[-2]) && is_hexadecimal(last);
}

/* What a word says that begins at a place with this number, or one with the same beginning. */
static int seen_at(text_t text, int64_t place, const marks_t *marks, int number) {
    int seen = 0;
    for (; number; number = marks->next[number]) {
        int64_t begin = number > 1 ? marks->ends[number - 2] : 0, size = marks->ends[number - 1] - begin, same = 0;
        if (text.size - place < size) continue;
        while (same < size && small(text.at[place + same]) == marks->words[begin + same]) same++;
        if (same < size) continue;
        if (marks->kinds[number - 1] == WITH_SIGN) seen |= HOLDS_WORD_FOR_SIGN;
        else if (marks->kinds[number - 1] == ANYWHERE || is_edge(text, place)) seen |= HOLDS_MARK;
    }
    return seen;
}

/* What a text holds; a byte beyond ASCII counts as a mark. */
static int seen_in(text_t text, const marks_t *marks) {
    int seen = 0;
    uint8_t last = 0;
    for (int64_t place = 0; place < text.size; place++) {
        uint8_t byte = small(text.at[place]);
        int number = marks->first[last | byte << 8];
        seen |= byte >> 7;
        if (byte == marks->sign) seen |= HOLDS_SIGN;
        if (number) seen |= seen_at(text, place - 1, marks, number);
        last = byte;
    }
    return seen;
}

/* Where a word begins in a text at or behind `from`; the text's end where it does not. */
static int64_t find(text_t text, int64_t from, text_t word) {
    while (text.size - from >= word.size) {
        const uint8_t *first = memchr(text.at + from, word.at[0], (size_t)(text.size - from - word.size + 1));
        if (first == NULL) break;
        if (memcmp(first, word.at, (size_t)word.size) == 0) return first - text.at;
        from = first - text.at + 1;
    }
    return text.size;
}

/* What the lines between the stretches hold; -1 where the text is built differently. */
static int seen_between(text_t text, const frame_t *frame, const marks_t *marks) {
    int64_t place = 0, begin = 0;
    int seen = 0;
    for (int64_t number = 0; number < frame->count; number++) {
        int64_t size = frame->ends[number] - begin, end;
        if (text.size - place < size || memcmp(text.at + place, frame->stretches + begin, (size_t)size) != 0) return -1;
        begin = frame->ends[number], place += size;
        end = find(text, place, frame->end_of_line);
        seen |= seen_in((text_t){text.at + place, end - place}, marks);
        place = end;
    }
    return frame->count > 0 && place == text.size ? seen : -1;
}

/* Which of some texts hold a mark, in the lines that differ where a text is built as the frame says, else anywhere.
 *
 * A word has two bytes or more and no large letter; there are at most MOST_WORDS. One of kind WITH_SIGN is a mark where
 * the sign stands in the text, too. */
PUBLIC void which_hold(const uint8_t *texts, const int64_t *ends, int64_t count, const uint8_t *end_of_line,
                       int64_t end_of_line_size, const uint8_t *stretches, const int64_t *stretch_ends,
                       int64_t stretch_count, const uint8_t *words, const int64_t *word_ends, const uint8_t *kinds,
                       int64_t word_count, uint8_t sign, uint8_t *holds) {
    frame_t frame = {{end_of_line, end_of_line_size}, stretches, stretch_ends, stretch_count};
    marks_t marks = {words, word_ends, kinds, sign, {0}, {0}};
    for (int64_t word = 1; word <= word_count; word++) {
        const uint8_t *at = words + (word > 1 ? word_ends[word - 2] : 0);
        uint8_t *of_pair = marks.first + (at[0] | at[1] << 8);
        marks.next[word] = *of_pair, *of_pair = (uint8_t)word;
    }
    for (int64_t row = 0, begin = 0; row < count; begin = ends[row++]) {
        text_t text = {texts + begin, ends[row] - begin};
        int seen = seen_between(text, &frame, &marks);
        if (seen < 0) seen = seen_in(text, &marks);
        holds[row] = (seen & HOLDS_MARK) || ((seen & HOLDS_SIGN) && (seen & HOLDS_WORD_FOR_SIGN));
    }
}
