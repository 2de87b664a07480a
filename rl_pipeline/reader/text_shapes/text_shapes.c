/* Shapes of texts that are much alike, and which of some texts hold a word. `rl_pipeline.reader.text_shapes` calls this,
 * says what the arguments are, and gives room that is large enough; nothing here allocates, and nothing is written beyond
 * what is said there.
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

enum { SHORTEST_IDENTIFIER = 12, MOST_WORDS = 255 };

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

/* The digest of the source that this was compiled from. */
PUBLIC const char *source_digest(void) { return SOURCE_DIGEST; }

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

/* The lines between the stretches, a line feed between two; -1 where the text is built differently. */
static int64_t put_differing(text_t text, frame_t frame, uint8_t *to) {
    int64_t place = 0, written = 0, begin = 0;
    for (int64_t number = 0; number < frame.count; number++) {
        int64_t size = frame.ends[number] - begin;
        if (text.size - place < size || memcmp(text.at + place, frame.stretches + begin, (size_t)size) != 0) return -1;
        begin = frame.ends[number], place += size;
        int64_t end = find(text, place, frame.end_of_line);
        if (number > 0) to[written++] = '\n';
        memcpy(to + written, text.at + place, (size_t)(end - place));
        written += end - place, place = end;
    }
    return frame.count > 0 && place == text.size ? written : -1;
}

/* NUL in the place of a name, wherever it stands; the size of what is left. */
static int64_t without_name(uint8_t *shape, int64_t size, text_t name) {
    text_t all = {shape, size};
    int64_t from = 0, to = 0;
    if (name.size == 0) return size;
    for (;;) {
        int64_t found = find(all, from, name);
        if (to != from) memmove(shape + to, shape + from, (size_t)(found - from));
        to += found - from;
        if (found == size) return to;
        shape[to++] = 0, from = found + name.size;
    }
}

static int is_of_identifier(uint8_t byte) {
    return (uint8_t)(byte - '0') < 10 || (uint8_t)(byte - 'a') < 6 || byte == '-';
}

/* 0 in the place of every digit, NUL in the place of quoted identifiers; the size of what is left. */
static int64_t without_numbers(uint8_t *shape, int64_t size) {
    int64_t to = 0;
    for (int64_t from = 0; from < size;) {
        if (shape[from] == '"') {
            int64_t end = from + 1;
            while (end < size && is_of_identifier(shape[end])) end++;
            if (end < size && shape[end] == '"' && end - from > SHORTEST_IDENTIFIER) {
                shape[to++] = 0, from = end + 1;
                continue;
            }
        }
        uint8_t byte = shape[from++];
        shape[to++] = (uint8_t)(byte - '1') < 9 ? '0' : byte;
    }
    return to;
}

static inline uint8_t small(uint8_t byte) { return (uint8_t)(byte - 'A') < 26 ? byte + 32 : byte; }

static int begins_with(const uint8_t *at, int64_t room, const uint8_t *word, int64_t size) {
    if (room < size) return 0;
    for (int64_t place = 0; place < size; place++)
        if (small(at[place]) != word[place]) return 0;
    return 1;
}

/* Which of some texts hold one of some words, or a byte beyond ASCII; large letters count as small ones. A word has two
 * bytes or more and no large letter; there are at most MOST_WORDS. */
PUBLIC void which_hold(const uint8_t *texts, const int64_t *ends, int64_t count, const uint8_t *words,
                       const int64_t *word_ends, int64_t word_count, uint8_t *holds) {
    uint8_t first[1 << 16] = {0}, next[MOST_WORDS + 1]; /* words that begin with a pair of bytes, numbered from 1 */
    for (int64_t word = 1; word <= word_count; word++) {
        const uint8_t *at = words + (word > 1 ? word_ends[word - 2] : 0);
        uint8_t *of_pair = first + (at[0] | at[1] << 8);
        next[word] = *of_pair, *of_pair = (uint8_t)word;
    }
    for (int64_t row = 0, place = 0; row < count; row++) {
        holds[row] = 0;
        for (uint8_t last = 0; place < ends[row]; place++) {
            uint8_t byte = small(texts[place]);
            holds[row] |= byte >> 7;
            for (int word = first[last | byte << 8]; word; word = next[word]) {
                int64_t begin = word > 1 ? word_ends[word - 2] : 0;
                holds[row] |= (uint8_t)begins_with(texts + place - 1, ends[row] - place + 1, words + begin,
                                                   word_ends[word - 1] - begin);
            }
            last = byte;
        }
    }
}

/* The shape of each text, end to end, and where each ends. */
PUBLIC void shapes_of(const uint8_t *texts, const int64_t *ends, int64_t count, const uint8_t *end_of_line,
                      int64_t end_of_line_size, const uint8_t *stretches, const int64_t *stretch_ends,
                      int64_t stretch_count, int64_t most_looked_at, int64_t most_whole, const uint8_t *names,
                      const int64_t *name_ends, int64_t names_each, uint8_t *shapes, int64_t *shape_ends) {
    frame_t frame = {{end_of_line, end_of_line_size}, stretches, stretch_ends, stretch_count};
    int64_t begin = 0, name_begin = 0, written = 0;
    for (int64_t row = 0; row < count; row++) {
        int64_t whole = ends[row] - begin;
        text_t text = {texts + begin, whole < most_looked_at ? whole : most_looked_at};
        uint8_t *shape = shapes + written;
        int64_t size = put_differing(text, frame, shape);
        if (size < 0) {
            size = whole <= most_whole ? whole : 0;
            memcpy(shape, text.at, (size_t)size);
        }
        begin = ends[row];
        for (int64_t number = row * names_each; number < (row + 1) * names_each; number++) {
            size = without_name(shape, size, (text_t){names + name_begin, name_ends[number] - name_begin});
            name_begin = name_ends[number];
        }
        written += without_numbers(shape, size);
        shape_ends[row] = written;
    }
}
