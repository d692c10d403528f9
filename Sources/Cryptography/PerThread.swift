import Glibc

/// Something of C that each thread makes once, keeps, and frees at its end.
///
/// A context of OpenSSL serves one thread at a time, and to make one costs more than a short digest. Nothing that is
/// asked for here may be held across an `await`.
struct PerThread: Sendable {
    private let key: pthread_key_t

    init(freeing free: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void) {
        var key = pthread_key_t()
        precondition(unsafe pthread_key_create(&key, free) == 0, "no more keys for what threads keep")
        self.key = key
    }

    /// This thread's own, made now if it has none.
    func value(orMaking make: () -> OpaquePointer?) -> OpaquePointer {
        if let kept = unsafe pthread_getspecific(key) { return OpaquePointer(kept) }
        guard let made = unsafe make(), unsafe pthread_setspecific(key, UnsafeRawPointer(made)) == 0 else {
            preconditionFailure("out of memory")
        }
        return unsafe made
    }
}
