/* Counts what a program does with SQLite's statements. Preloaded (LD_PRELOAD), it stands between the two.

   STATEMENTS names a file of two numbers, 64 bits each: how many runs have ended, BEGIN and COMMIT among them, and how
   many statements were prepared and are not finalised. SQLite finalises some of its own: those are not counted. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { runs, alive, most = 1 << 16 };

static _Atomic uint64_t *counts;
static void *known[most];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("STATEMENTS");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *mapped = mmap(NULL, 2 * sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) abort();
    counts = mapped;
    close(file);
}

/* Puts `new` where `old` is. */
static void replace(void *old, void *new) {
    pthread_mutex_lock(&lock);
    int at = 0;
    while (at < most && known[at] != old) at += 1;
    if (at == most && new) abort();
    if (at < most) {
        known[at] = new;
        if (counts) atomic_fetch_add(&counts[alive], new ? 1 : (uint64_t)-1);
    }
    pthread_mutex_unlock(&lock);
}

static void *next(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort();
    return found;
}

int sqlite3_prepare_v3(
    void *database, const char *text, int size, unsigned flags, void **statement, const char **rest) {
    static int (*_Atomic call)(void *, const char *, int, unsigned, void **, const char **);
    if (!call) call = next("sqlite3_prepare_v3");
    int code = call(database, text, size, flags, statement, rest);
    if (*statement) replace(NULL, *statement);
    return code;
}

int sqlite3_reset(void *statement) {
    static int (*_Atomic call)(void *);
    if (!call) call = next("sqlite3_reset");
    if (counts) atomic_fetch_add_explicit(&counts[runs], 1, memory_order_relaxed);
    return call(statement);
}

int sqlite3_finalize(void *statement) {
    static int (*_Atomic call)(void *);
    if (!call) call = next("sqlite3_finalize");
    if (statement) replace(statement, NULL);
    return call(statement);
}
