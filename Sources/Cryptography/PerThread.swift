import Glibc

/// A C object that each thread makes once, keeps, and frees at its end.
///
/// An OpenSSL context serves one thread at a time, and making one costs more than a short digest. The value must not be
/// kept across an `await`.
struct PerThread: Sendable {
    private let key: pthread_key_t

    init(freeing free: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void) {
        var key = pthread_key_t()
        precondition(unsafe pthread_key_create(&key, free) == 0, "no more keys for what threads keep")
        self.key = key
    }

    /// This thread's object; made if there is none yet.
    func value(orMaking make: () -> OpaquePointer?) -> OpaquePointer {
        if let kept = unsafe pthread_getspecific(key) { return OpaquePointer(kept) }
        guard let made = unsafe make(), unsafe pthread_setspecific(key, UnsafeRawPointer(made)) == 0 else {
            preconditionFailure("out of memory")
        }
        return unsafe made
    }
}
