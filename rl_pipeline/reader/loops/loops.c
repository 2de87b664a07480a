/* Loops over the bytes of a window of a log. `rl_pipeline.reader.loops` calls them, says what their arguments are, and
 * checks the arrays' types and sizes; nothing here allocates, and nothing is written beyond what is said there.
 *
 * Bytes of a log are anybody's: every index that comes from them is compared with an end before it is used.
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

enum { NEEDLE_PAIR = 1, FEED_FIRST = 2, FEED_SECOND = 4 }; /* flags of a pair of bytes */
enum { BEHIND = 1, BEFORE = 2 };                           /* where the third byte stands */
enum { IRREGULAR = -1, MARK = -2 };                        /* kinds of needles */
enum { ROLE_COUNT = -1, ROLE_FIXED = -2 };                 /* of runs of digits */
enum { NO_PLAN = -1, NOT_LEARNED = -2 };
enum { MOST_DIGITS = 9, MOST_COUNT_DIGITS = 6, MOST_SHOWN = 4096 };
enum { MOST_KEY = 300, MOST_INTEGER = 30, MOST_EXPONENT = 4 };

typedef const uint8_t *bytes;

/* The digest of the source that this was compiled from. */
PUBLIC const char *source_digest(void) { return SOURCE_DIGEST; }

static inline int is_digit(uint8_t byte) { return (uint8_t)(byte - '0') < 10; }

/* ---- bytes ---- */

/* How many line feeds and NULs there are, and whether a byte is beyond ASCII. Sums of lanes are small enough for bytes,
 * so that a compiler works on many at a time. */
PUBLIC void count_bytes(bytes data, int64_t size, int64_t *counts) {
    enum { LANES = 64, MOST_ROUNDS = 255 };
    int64_t place = 0, feeds = 0, nuls = 0;
    uint8_t any = 0;
    while (size - place >= LANES) {
        uint8_t feed_lanes[LANES] = {0}, nul_lanes[LANES] = {0}, any_lanes[LANES] = {0};
        int64_t left = (size - place) / LANES, rounds = left < MOST_ROUNDS ? left : MOST_ROUNDS;
        for (; rounds > 0; rounds--, place += LANES)
            for (int lane = 0; lane < LANES; lane++) {
                uint8_t byte = data[place + lane];
                feed_lanes[lane] += byte == '\n', nul_lanes[lane] += byte == 0, any_lanes[lane] |= byte;
            }
        for (int lane = 0; lane < LANES; lane++)
            feeds += feed_lanes[lane], nuls += nul_lanes[lane], any |= any_lanes[lane];
    }
    for (; place < size; place++) feeds += data[place] == '\n', nuls += data[place] == 0, any |= data[place];
    counts[0] = feeds, counts[1] = nuls, counts[2] = any >> 7;
}

/* ---- lines and needles ---- */

static inline uint32_t third_of(uint32_t pair, uint32_t third) {
    return (pair * 40503u ^ third * 2654435u) & 0xffff;
}

static inline uint32_t pair_at(bytes place) { return place[0] | (uint32_t)place[1] << 8; }

static inline int may_be_needle(bytes data, int64_t size, int64_t place, uint32_t pair, bytes thirds) {
    uint32_t behind = place + 2 < size ? data[place + 2] : '\n';
    uint32_t before = place ? data[place - 1] : '\n';
    return (thirds[third_of(pair, behind)] & BEHIND) || (thirds[third_of(pair, before)] & BEFORE);
}

PUBLIC void cut_and_find(
    bytes data, int64_t size, bytes flags, bytes thirds, const int64_t *firsts, const int64_t *entries, bytes text,
    const int64_t *offsets, const int16_t *kinds, int64_t *edges, int64_t *hits, int16_t *hit_kinds, int64_t *hit_ends,
    int64_t *marks, int64_t *counts) {
    int64_t line = 0, count = 0, told = 0;
    edges[0] = 0;
    for (int64_t place = 0; place + 1 < size; place += 2) {
        while (place + 9 < size) { /* four pairs without a flag cost one branch */
            uint32_t first = pair_at(data + place), second = pair_at(data + place + 2);
            uint32_t third = pair_at(data + place + 4), fourth = pair_at(data + place + 6);
            if (flags[first] | flags[second] | flags[third] | flags[fourth]) break;
            place += 8;
        }
        uint32_t pair = pair_at(data + place);
        uint8_t flag = flags[pair];
        while (!flag && place + 3 < size) {
            place += 2;
            pair = pair_at(data + place), flag = flags[pair];
        }
        if (!flag) continue;
        if (flag & FEED_FIRST) edges[++line] = place + 1;
        if (flag & FEED_SECOND) edges[++line] = place + 2;
        if (!(flag & NEEDLE_PAIR) || !may_be_needle(data, size, place, pair, thirds)) continue;
        for (const int64_t *entry = entries + 3 * firsts[pair];; entry += 3) {
            int64_t needle = entry[0], begin = place - entry[1];
            int64_t length = offsets[needle + 1] - offsets[needle], end = begin + length;
            if (begin >= 0 && end <= size && !memcmp(data + begin, text + offsets[needle], (size_t)length)) {
                int16_t kind = kinds[needle];
                if (kind == MARK) {
                    marks[told++] = begin;
                } else if (count && hits[count - 1] == line) {
                    if (hit_kinds[count - 1] != kind) hit_kinds[count - 1] = IRREGULAR;
                    if (end < hit_ends[count - 1]) hit_ends[count - 1] = end;
                } else {
                    hits[count] = line, hit_kinds[count] = kind, hit_ends[count] = end;
                    count++;
                }
            }
            if (!entry[2]) break;
        }
    }
    if (size % 2 && data[size - 1] == '\n') edges[++line] = size;
    counts[0] = line, counts[1] = count, counts[2] = told;
}

PUBLIC void usual_folds(
    bytes data, int64_t size, const int64_t *marks, int64_t count, int64_t mark_length, bytes opening,
    int64_t opening_length, bytes endings, const int64_t *ending_ends, int64_t ending_count, int64_t most,
    int64_t *unusual, int64_t *counts) {
    int64_t folded = 0, odd = 0, done = -1;
    for (int64_t number = 0; number < count; number++) {
        int64_t mark = marks[number];
        if (mark < done) continue; /* of the same line */
        bytes feed = memchr(data + mark, '\n', (size_t)(size - mark));
        done = feed ? feed - data : size;
        int64_t first = mark, value = 0;
        while (first > 0 && mark - first < MOST_DIGITS && is_digit(data[first - 1])) first--;
        for (int64_t place = first; place < mark; place++) value = value * 10 + (data[place] - '0');
        int64_t begin = first - opening_length;
        int is_usual = 0;
        if (first < mark && begin >= 0 && !memcmp(data + begin, opening, (size_t)opening_length)) {
            int64_t place = mark + mark_length;
            for (int64_t ending = 0, from = 0; ending < ending_count; from = ending_ends[ending++]) {
                int64_t length = ending_ends[ending] - from;
                if (done - place == length && !memcmp(data + place, endings + from, (size_t)length)) is_usual = 1;
            }
        }
        if (is_usual)
            folded += (value < 1 ? 1 : value > most ? most : value) - 1;
        else
            unusual[odd++] = mark;
    }
    counts[0] = folded, counts[1] = odd;
}

/* ---- shapes ---- */

PUBLIC uint32_t hash_of(bytes shown, int64_t size) { /* FNV-1a */
    uint32_t code = 2166136261u;
    for (int64_t place = 0; place < size; place++) code = (code ^ shown[place]) * 16777619u;
    return code;
}

/* Whether bytes are those of a text where the bits of `compared` are set; no branch, for wide registers. */
static int is_shown(bytes data, bytes text, bytes compared, int64_t length) {
    uint8_t different = 0;
    for (int64_t place = 0; place < length; place++) different |= (data[place] ^ text[place]) & compared[place];
    return !different;
}

/* So many digits as a number; a negative one when one is none, such that no sum in `stamp_at` is positive then, nor
 * beyond what 64 bits hold. */
static int64_t number_at(bytes data, int count) {
    int64_t value = 0;
    for (int place = 0; place < count; place++) {
        if (!is_digit(data[place])) return -1000000000;
        value = value * 10 + (data[place] - '0');
    }
    return value;
}

/* Day and microseconds of a stamp `2026-01-09 11:22:33.444` or `01-09 11:22:33`; the day -1 where it is none. */
static int64_t stamp_at(bytes data, int dated, int64_t *clock) {
    bytes at = dated ? data + 5 : data;
    int64_t day = number_at(at, 2) * 100 + number_at(at + 3, 2), milliseconds = 0;
    int64_t hours = number_at(at + 6, 2), minutes = number_at(at + 9, 2), seconds = number_at(at + 12, 2);
    if (dated) {
        day += number_at(data, 4) * 10000;
        milliseconds = number_at(data + 20, 3);
    }
    *clock = (hours * 3600 + minutes * 60 + seconds) * 1000000 + milliseconds * 1000;
    int is_clock = hours >= 0 && hours < 24 && minutes >= 0 && minutes < 60 && seconds >= 0 && seconds < 60;
    return day >= 0 && is_clock && milliseconds >= 0 ? day : -1;
}

typedef struct {
    int64_t values[MOST_SHOWN], lengths[MOST_SHOWN];
    uint8_t shown[MOST_SHOWN];
} Runs;

/* The tail that some bytes are, each run of digits as one `0`, or -1; `usual` is tried first. */
static int64_t tail_of(
    bytes data, int64_t place, int64_t stop, int64_t kind, int64_t usual, const int64_t *tails, bytes text,
    const int64_t *tail_firsts, int64_t buckets, Runs *runs, int64_t *run_count) {
    int64_t size = 0, count = 0;
    int64_t first = usual >= 0 ? tails[4 * usual] : 0, length = usual >= 0 ? tails[4 * usual + 1] : -1;
    while (place < stop) {
        uint8_t byte = data[place];
        if (is_digit(byte)) {
            int64_t begin = place, value = 0;
            for (; place < stop && is_digit(data[place]); place++)
                if (place - begin < MOST_DIGITS) value = value * 10 + (data[place] - '0');
            runs->values[count] = value, runs->lengths[count] = place - begin;
            count++;
            byte = '0';
        } else {
            place++;
        }
        if (size >= length || text[first + size] != byte) length = -1;
        runs->shown[size++] = byte;
    }
    *run_count = count;
    if (length == size) return usual;
    int64_t tail = tail_firsts[(hash_of(runs->shown, size) ^ (uint32_t)kind) & (uint32_t)(buckets - 1)];
    for (; tail >= 0; tail = tails[4 * tail + 2]) {
        const int64_t *row = tails + 4 * tail;
        if (row[3] == kind && row[1] == size && !memcmp(runs->shown, text + row[0], (size_t)size)) return tail;
    }
    return -1;
}

/* Put the runs of digits of a line where they belong; 0 when one is not what the plan may read. */
static int take_runs(
    const Runs *runs, int64_t run_count, const int64_t *roles, const int64_t *fixed, const int64_t *most,
    int64_t *numbers, int64_t *digits, int64_t *count) {
    for (int64_t run = 0; run < run_count; run++) {
        int64_t role = roles[run], value = runs->values[run], length = runs->lengths[run];
        if (role == ROLE_FIXED) {
            if (length != fixed[2 * run] || value != fixed[2 * run + 1]) return 0;
        } else if (role == ROLE_COUNT) {
            if (length > MOST_COUNT_DIGITS) return 0;
            *count = value < 1 ? 1 : value;
        } else {
            if (length > most[role]) return 0;
            numbers[role] = value, digits[role] = length;
        }
    }
    return 1;
}

PUBLIC void read_regular(
    bytes data, const int64_t *starts, const int64_t *ends, const int64_t *stops, const int16_t *kinds, int64_t count,
    bytes head_text, bytes head_compared, const int64_t *heads, const int64_t *head_firsts, int64_t most_line,
    bytes tail_text, const int64_t *tails, const int64_t *tail_firsts, int64_t buckets, const int64_t *roles,
    const int64_t *fixed, int64_t most_runs, const int64_t *plan_numbers, int64_t tail_count,
    const int64_t *most_digits, int64_t width, int64_t *usual, int64_t *shapes, int64_t *plans, int64_t *counts,
    int64_t *numbers, int64_t *digits, int64_t *days, int64_t *clocks) {
    Runs runs;
    for (int64_t line = 0; line < count; line++) {
        int64_t kind = kinds[line], length = ends[line] - starts[line], run_count = 0;
        int64_t head = head_firsts[kind * (most_line + 1) + length];
        for (; head >= 0; head = heads[6 * head + 2]) {
            int64_t first = heads[6 * head];
            if (is_shown(data + starts[line], head_text + first, head_compared + first, length)) break;
        }
        int64_t tail = tail_of(
            data, ends[line], stops[line], kind, usual[kind], tails, tail_text, tail_firsts, buckets, &runs, &run_count);
        if (tail >= 0) usual[kind] = tail;
        shapes[2 * line] = head, shapes[2 * line + 1] = tail, plans[line] = NOT_LEARNED;
        if (head < 0 || tail < 0) continue;
        const int64_t *row = heads + 6 * head;
        int64_t plan = plan_numbers[row[5] * tail_count + tail];
        if (plan >= 0) {
            days[line] = stamp_at(data + starts[line] + row[3], (int)row[4], clocks + line);
            counts[line] = 1;
            int fits = days[line] >= 0 && take_runs(
                &runs, run_count, roles + tail * most_runs, fixed + tail * most_runs * 2, most_digits + plan * width,
                numbers + line * width, digits + line * width, counts + line);
            if (!fits) plan = NO_PLAN;
        }
        plans[line] = plan;
    }
}

/* ---- blocks ---- */

/* Whether a byte of a quoted text means itself, whatever stands around it. */
static inline int is_plain(uint8_t byte) {
    return byte >= ' ' && byte <= '~' && byte != '\'' && byte != '[' && byte != '\\' && byte != '|';
}

static bytes digits_end(bytes place, bytes end) {
    while (place < end && is_digit(*place)) place++;
    return place;
}

static int is_number(bytes place, bytes end) {
    if (place < end && *place == '-') place++;
    bytes after = digits_end(place, end);
    if (after - place < 1 || after - place > MOST_INTEGER) return 0;
    if (after < end && *after == '.') {
        place = after + 1, after = digits_end(place, end);
        if (after - place < 1 || after - place > MOST_INTEGER) return 0;
    }
    if (after < end && *after == 'e') {
        place = after + 1;
        if (place < end && (*place == '+' || *place == '-')) place++;
        after = digits_end(place, end);
        if (after - place < 1 || after - place > MOST_EXPONENT) return 0;
    }
    return after == end;
}

static int is_word(bytes place, bytes end, const char *word) {
    size_t length = strlen(word);
    return (size_t)(end - place) == length && !memcmp(place, word, length);
}

/* Whether bytes are an entry as `entries.ENTRY` describes it, with `ender` for its comma. */
static int is_entry(bytes place, bytes end, uint8_t ender) {
    if (end - place < 6 || place[0] != ' ' || place[1] != '\'' || end[-1] != ender) return 0;
    end--;
    bytes key = place + 2, key_end = key;
    while (key_end < end && is_plain(*key_end)) key_end++;
    if (key_end - key < 1 || key_end - key > MOST_KEY || end - key_end < 4) return 0;
    if (key_end[0] != '\'' || key_end[1] != ':' || key_end[2] != ' ') return 0;
    bytes value = key_end + 3;
    if (*value == '\'') {
        bytes text_end = value + 1;
        while (text_end < end && is_plain(*text_end)) text_end++;
        return text_end - value - 1 <= MOST_KEY && text_end == end - 1 && *text_end == '\'';
    }
    return is_number(value, end) || is_word(value, end, "True") || is_word(value, end, "False") ||
           is_word(value, end, "None");
}

/* Whether a line shows a carriage return, a NUL, or the marks of a progress bar: `%|`, `it [`. */
static int may_be_more(bytes begin, bytes end) {
    for (bytes place = begin; place < end; place++) {
        if (*place == '\r' || *place == 0) return 1;
        if (*place == '|' && place > begin && place[-1] == '%') return 1;
        if (*place == '[' && place - begin >= 3 && !memcmp(place - 3, "it ", 3)) return 1;
    }
    return 0;
}

static int shows_any(bytes begin, bytes end, bytes markers, const int64_t *marker_ends, int64_t count) {
    for (int64_t number = 0, first = 0; number < count; first = marker_ends[number++]) {
        int64_t length = marker_ends[number] - first;
        bytes marker = markers + first;
        if (!length) return 1;
        for (bytes place = begin; end - place >= length; place++)
            if (*place == *marker && place[length - 1] == marker[length - 1] && !memcmp(place, marker, (size_t)length))
                return 1;
    }
    return 0;
}

static inline int is_letter_or_digit(uint8_t byte) {
    return is_digit(byte) || (uint8_t)((byte | 32) - 'a') < 26;
}

PUBLIC void follow_block(
    bytes data, const int64_t *edges, int64_t line, int64_t last, const int64_t *hits, int64_t hit_count, int64_t hit,
    bytes ways, bytes prefix, int64_t prefix_length, bytes markers, const int64_t *marker_ends, int64_t marker_count,
    int64_t quoted_only, int64_t may_close, int64_t characters, int64_t *taken, int64_t room, int64_t *counts) {
    int64_t count = 0, is_closed = 0;
    for (; line < last; line++) {
        bytes begin = data + edges[line], end = data + edges[line + 1] - 1;
        int is_hit = hit < hit_count && hits[hit] == line;
        int is_own = end - begin > prefix_length && !memcmp(begin, prefix, (size_t)prefix_length);
        bytes entry = begin + (is_own ? prefix_length : 0);
        int is_last = is_own && may_close && end[-1] == '}';
        if (is_own && is_entry(entry, end, is_last ? '}' : ',')) {
            characters -= end - begin;
            if (count == room || characters <= 0) break;
            taken[count++] = line;
            if (is_last) {
                is_closed = 1, line++;
                break;
            }
        } else if (is_hit) {
            if (!ways[hit]) break;
        } else if (!(is_own && quoted_only && is_letter_or_digit(*entry) && !may_be_more(begin, end))) {
            if (shows_any(begin, end, markers, marker_ends, marker_count)) break;
        }
        hit += is_hit;
    }
    counts[0] = line, counts[1] = count, counts[2] = is_closed;
}
