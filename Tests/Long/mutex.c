// ThreadSanitizer cannot see a Mutex that two threads want: it is taken and given within libswiftSynchronization, which
// is not built with it, so what the Mutex guards looks like a race. Tests/Long/sanitizers links these three functions
// in place of the library's: they call it, and report what it ordered. A Mutex without contention never comes here.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define MUTEX "$s15Synchronization12_MutexHandleV"
#define METHOD __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

void __tsan_acquire(void *address);
void __tsan_release(void *address);

METHOD void lock(uint32_t thread, SELF) __asm__(MUTEX "9_lockSlowyys6UInt32VF");
METHOD bool try(SELF) __asm__(MUTEX "12_tryLockSlowSbyF");
METHOD void unlock(SELF) __asm__(MUTEX "11_unlockSlowyyF");

METHOD void lock(uint32_t thread, SELF) {
    METHOD void (*original)(uint32_t, SELF) = dlsym(RTLD_NEXT, MUTEX "9_lockSlowyys6UInt32VF");
    original(thread, self);
    __tsan_acquire(self);
}

METHOD bool try(SELF) {
    METHOD bool (*original)(SELF) = dlsym(RTLD_NEXT, MUTEX "12_tryLockSlowSbyF");
    bool taken = original(self);
    if (taken) __tsan_acquire(self);
    return taken;
}

METHOD void unlock(SELF) {
    METHOD void (*original)(SELF) = dlsym(RTLD_NEXT, MUTEX "11_unlockSlowyyF");
    __tsan_release(self);
    original(self);
}
