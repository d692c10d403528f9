/* A disk that fails while a test wants it to. Preloaded (LD_PRELOAD), it stands between a program and libc.

   FAULTS names a file. While that is there, each of its lines says what fails: a word, a blank, and how the path of the
   file ends. `write`, `sync` and `read` fail with EIO, `room` makes a write fail with ENOSPC, and the disk of the file
   have no free blocks. What fails is not done, and its line is appended to FAULTS.told.

   cc -shared -fPIC -o faults.so faults.c */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <unistd.h>

static void tell(const char *wishes, const char *line) {
    char path[4096], text[4096];
    snprintf(path, sizeof path, "%s.told", wishes);
    int count = snprintf(text, sizeof text, "%s\n", line);
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || write(file, text, (size_t)count) != count) abort();
    close(file);
}

static int ends_with(const char *text, const char *end) {
    size_t size = strlen(text), wanted = strlen(end);
    return wanted <= size && strcmp(text + size - wanted, end) == 0;
}

/* Whether `kind` is to fail on the file at `path`. */
static int fails_at(const char *kind, const char *path) {
    const char *wishes = getenv("FAULTS");
    FILE *file = wishes ? fopen(wishes, "re") : NULL;
    if (!file) return 0;
    char line[4096];
    int found = 0;
    while (!found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        size_t word = strcspn(line, " ");
        found = word == strlen(kind) && !strncmp(line, kind, word) && line[word] && ends_with(path, line + word + 1);
    }
    fclose(file);
    if (found) tell(wishes, line);
    return found;
}

/* Whether `kind` is to fail on the file that `descriptor` is. */
static int fails(const char *kind, int descriptor) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t size = readlink(link, path, sizeof path - 1);
    path[size < 0 ? 0 : size] = 0;
    return fails_at(kind, path);
}

static int fault(const char *kind, int descriptor) {
    int saved = errno;
    int code = fails(kind, descriptor) ? EIO : !strcmp(kind, "write") && fails("room", descriptor) ? ENOSPC : 0;
    errno = code ? code : saved;
    return code;
}

#define FAILING(kind, type, name, parameters, arguments)                                                               \
    type name parameters {                                                                                             \
        type(*next) parameters = (type(*) parameters)dlsym(RTLD_NEXT, #name);                                          \
        return fault(kind, descriptor) ? -1 : next arguments;                                                          \
    }

FAILING("write", ssize_t, pwrite, (int descriptor, const void *bytes, size_t count, off_t at),
        (descriptor, bytes, count, at))
FAILING("write", ssize_t, pwrite64, (int descriptor, const void *bytes, size_t count, off64_t at),
        (descriptor, bytes, count, at))
FAILING("read", ssize_t, pread, (int descriptor, void *bytes, size_t count, off_t at), (descriptor, bytes, count, at))
FAILING("read", ssize_t, pread64, (int descriptor, void *bytes, size_t count, off64_t at),
        (descriptor, bytes, count, at))
FAILING("sync", int, fsync, (int descriptor), (descriptor))
FAILING("sync", int, fdatasync, (int descriptor), (descriptor))

#define FULL(name, type)                                                                                               \
    int name(const char *path, type *disk) {                                                                           \
        int (*next)(const char *, type *) = (int (*)(const char *, type *))dlsym(RTLD_NEXT, #name);                    \
        int code = next(path, disk);                                                                                   \
        if (code == 0 && fails_at("room", path)) disk->f_bavail = disk->f_bfree = 0;                                   \
        return code;                                                                                                   \
    }

FULL(statvfs, struct statvfs)
FULL(statvfs64, struct statvfs64)
