/* Questions to the file system about many folders at once, in one call each, so that Python's lock is free meanwhile and
 * nothing is made for a name but its numbers. `rl_pipeline.reader.folder_calls` calls these, says what their arguments
 * are, and gives room for all that is filled. Nothing here allocates, and no descriptor outlives a call.
 *
 * Names and files are anybody's, and change meanwhile: what is not quite as it usually is, is left to the caller.
 */

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

#ifndef SOURCE_DIGEST
#define SOURCE_DIGEST ""
#endif

enum { BLOCK = 1 << 15, HEAD = 19, LENGTH_PLACE = 16, KIND_PLACE = 18 }; /* bytes of `struct linux_dirent64` */
enum { IS_FIFO = 1, IS_FOLDER = 4, IS_FILE = 8, IS_LINK = 10, UNKNOWN = 0 };
enum { UNUSUAL = 0, NOT_READ = 1, WHOLE = 2 }; /* how far reading a trial came */
enum { MOST_PATH = 1024 }; /* bytes of a name and of what stands behind it */
enum { SECOND = 1000000000 };

/* The digest of the source that this was compiled from. */
PUBLIC const char *source_digest(void) { return SOURCE_DIGEST; }

/* One name of a listing, inside a block. */
struct entry {
    const char *name;
    int64_t size; /* of the name, without its NUL */
    int kind;
};

/* The next entry but `.` and `..`: 1; none is left in the block: 0; the block is not what a kernel gives: -1. */
static int next_entry(const char *block, int64_t filled, int64_t *place, struct entry *found) {
    while (*place < filled) {
        uint16_t length;
        const char *record = block + *place;
        if (filled - *place <= HEAD) return -1;
        memcpy(&length, record + LENGTH_PLACE, sizeof length);
        if (length <= HEAD || length > filled - *place) return -1;
        found->name = record + HEAD;
        found->size = (int64_t)strnlen(found->name, (size_t)(length - HEAD));
        found->kind = (uint8_t)record[KIND_PLACE];
        if (found->size == length - HEAD) return -1;
        *place += length;
        if (found->name[0] != '.' || (found->size > 1 && (found->name[1] != '.' || found->size > 2))) return 1;
    }
    return 0;
}

/* Some bytes of a listing; 0 at its end, -1 when it fails. */
static int64_t list_block(int folder, char *block) {
    for (;;) {
        int64_t got = syscall(SYS_getdents64, folder, block, (size_t)BLOCK);
        if (got >= 0 || errno != EINTR) return got;
    }
}

/* Whether a text is one of those that stand end to end, each with its NUL; `at_end`: or ends with one. */
static int is_one_of(const char *text, int64_t size, const char *those, int64_t those_size, int at_end) {
    for (int64_t place = 0; place < those_size;) {
        int64_t length = (int64_t)strnlen(those + place, (size_t)(those_size - place));
        int64_t before = size - length;
        if ((before == 0 || (at_end && before > 0)) && !memcmp(text + before, those + place, (size_t)length)) return 1;
        place += length + 1;
    }
    return 0;
}

/* The time in nanoseconds; 0 when it is none that fits. */
static int tell_time(const struct stat *info, int64_t *time_ns) {
    int64_t seconds = (int64_t)info->st_mtim.tv_sec;
    if (seconds >= INT64_MAX / SECOND || seconds <= INT64_MIN / SECOND) return 0;
    *time_ns = seconds * SECOND + (int64_t)info->st_mtim.tv_nsec;
    return 1;
}

/* Size, time in nanoseconds and inode, each in a column of its own; 0 when the time is none that fits. */
static int tell_state(const struct stat *info, int64_t row, int64_t count, int64_t *columns) {
    uint64_t inode = (uint64_t)info->st_ino;
    if (!tell_time(info, columns + count + row)) return 0;
    columns[row] = (int64_t)info->st_size;
    memcpy(columns + 2 * count + row, &inode, sizeof inode);
    return 1;
}

/* The state of the file of one name in each of some folders: whether it is a regular one in a folder, size, time, inode,
 * and the time of the folder. No link is followed. The names of the folders stand end to end, each with its NUL. */
PUBLIC void states_of(int above, const char *names, int64_t size, const char *result, int64_t count, uint8_t *is_file,
                      int64_t *columns) {
    int64_t result_size = (int64_t)strlen(result), place = 0;
    for (int64_t row = 0; row < count; row++) {
        char path[MOST_PATH];
        struct stat info;
        int64_t length = place < size ? (int64_t)strnlen(names + place, (size_t)(size - place)) : 0;
        is_file[row] = 0;
        if (length && length + result_size + 2 <= MOST_PATH) {
            memcpy(path, names + place, (size_t)length);
            path[length] = 0;
            int is_folder = !fstatat(above, path, &info, AT_SYMLINK_NOFOLLOW) && S_ISDIR(info.st_mode) &&
                            tell_time(&info, columns + 3 * count + row);
            path[length] = '/';
            memcpy(path + length + 1, result, (size_t)result_size + 1);
            if (is_folder && !fstatat(above, path, &info, AT_SYMLINK_NOFOLLOW) && S_ISREG(info.st_mode))
                is_file[row] = (uint8_t)tell_state(&info, row, count, columns);
        }
        place += length + 1;
    }
}

/* Names in a folder, end to end, each with its NUL, and the kind of each, as far as there is room; a later call goes on.
 * `told` is filled with how many there are, the bytes of their names, and whether the listing has ended; -1 for the
 * last where it failed. */
PUBLIC void list_some(int folder, char *names, int64_t room, uint8_t *kinds, int64_t *told) {
    uint64_t aligned[BLOCK / sizeof(uint64_t)];
    char *block = (char *)aligned;
    int64_t count = 0, used = 0;
    told[2] = 0;
    while (room - used >= BLOCK) {
        int64_t place = 0, got = list_block(folder, block);
        struct entry found;
        int more = 0;
        if (got <= 0) {
            told[2] = got == 0 ? 1 : -1;
            break;
        }
        while ((more = next_entry(block, got, &place, &found)) > 0) {
            memcpy(names + used, found.name, (size_t)found.size + 1);
            used += found.size + 1;
            kinds[count++] = (uint8_t)found.kind;
        }
        if (more < 0) {
            told[2] = -1;
            break;
        }
    }
    told[0] = count, told[1] = used;
}

/* What is usual of the folders of trials: texts that stand end to end, each with its NUL. */
struct usual {
    const char *result, *sign_of_a_job, *parts, *archives;
    int64_t parts_size, archives_size;
};

/* Whether a folder holds a trial's result as a regular file, and nothing else that has to be looked at. */
static int holds_plain_trial(int folder, const struct usual *usual) {
    uint64_t aligned[BLOCK / sizeof(uint64_t)];
    char *block = (char *)aligned;
    int is_there = 0;
    for (;;) {
        int64_t place = 0, got = list_block(folder, block);
        struct entry found;
        int more;
        if (got <= 0) return got == 0 && is_there;
        while ((more = next_entry(block, got, &place, &found)) > 0) {
            if (found.kind == IS_LINK || found.kind == UNKNOWN) return 0;
            if (!strcmp(found.name, usual->result)) {
                is_there = found.kind == IS_FILE;
            } else if (found.kind == IS_FOLDER) {
                if (!is_one_of(found.name, found.size, usual->parts, usual->parts_size, 0)) return 0;
            } else if (!strcmp(found.name, usual->sign_of_a_job) ||
                       is_one_of(found.name, found.size, usual->archives, usual->archives_size, 1)) {
                return 0;
            }
        }
        if (more < 0) return 0;
    }
}

/* Read a regular file as long as it was when it was opened, in one go, if it fits; -1 when it does not, or changed. A
 * link is not followed, and a pipe is not waited for. */
static int64_t read_whole(int folder, const char *name, char *content, int64_t room, int64_t row, int64_t count,
                          int64_t *columns) {
    int64_t got = -1;
    struct stat info;
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
    if (file < 0) return -1;
    if (!fstat(file, &info) && S_ISREG(info.st_mode) && info.st_size >= 0 && (int64_t)info.st_size < room &&
        tell_state(&info, row, count, columns)) {
        got = (int64_t)read(file, content, (size_t)info.st_size + 1);
        if (got != (int64_t)info.st_size) got = -1;
    }
    close(file);
    return got;
}

/* List the folders of trials, and read the result of each that is quite usual.
 *
 * `names` of the folders stand in the folder `above`, end to end, each with its NUL. Filled are `how` far reading came,
 * and columns of `count` numbers: size, time, inode, where the content ends in `contents`, where one stands behind the
 * other, and the time of the folder, asked before it is listed: what comes in later makes it another one. */
PUBLIC void read_trials(int above, const char *names, int64_t size, int64_t count, const char *result,
                        const char *sign_of_a_job, const char *parts, int64_t parts_size, const char *archives,
                        int64_t archives_size, char *contents, int64_t room, uint8_t *how, int64_t *columns) {
    struct usual usual = {result, sign_of_a_job, parts, archives, parts_size, archives_size};
    int64_t place = 0, used = 0;
    for (int64_t row = 0; row < count; row++) {
        int folder;
        struct stat info;
        how[row] = UNUSUAL;
        columns[3 * count + row] = used;
        if (place >= size) continue;
        folder = openat(above, names + place, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_DIRECTORY);
        place += (int64_t)strnlen(names + place, (size_t)(size - place)) + 1;
        if (folder < 0) continue;
        if (!fstat(folder, &info) && tell_time(&info, columns + 4 * count + row) && holds_plain_trial(folder, &usual)) {
            int64_t got = read_whole(folder, result, contents + used, room - used, row, count, columns);
            how[row] = got < 0 ? NOT_READ : WHOLE;
            if (got > 0) columns[3 * count + row] = used += got;
        }
        close(folder);
    }
}
