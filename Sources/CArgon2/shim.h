#pragma once
#include <argon2.h>
#include <malloc.h>
#include <stdlib.h>

/// Lets the C library keep what this thread frees, so that the next hash can reuse its work space.
static inline void spindle_keep_freed_memory(void) {
    mallopt(M_MMAP_THRESHOLD, 32 * 1024 * 1024);
    mallopt(M_TRIM_THRESHOLD, 64 * 1024 * 1024);
}

/// Gives what this thread has freed back to the system: malloc_trim skips the end of a thread's heap, where the work
/// space was, and free looks at it only when it frees something over 64 KiB.
static inline void spindle_return_freed_memory(void) {
    mallopt(M_TRIM_THRESHOLD, 64 * 1024);
    void *volatile block = malloc(128 * 1024);
    free(block);
    spindle_keep_freed_memory();
}
