import CLinux
import Glibc

/// A system thread.
enum LoopThread {
    private final class Start {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// Runs `body` on a new thread. The name has at most 15 bytes. False when the system cannot start one.
    @discardableResult
    static func start(named name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        let start = unsafe Unmanaged.passRetained(Start(name: name, body: body))
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { unsafe pthread_attr_destroy(&attributes) }
        var thread = pthread_t()
        let result = unsafe pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument = unsafe argument else { return nil }
                let start = unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                unsafe linux_name_this_thread(start.name)
                start.body()
                return nil
            }, start.toOpaque())
        if result != 0 { unsafe start.release() }
        return result == 0
    }
}
