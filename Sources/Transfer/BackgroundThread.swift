import Foundation

/// Runs `body`, which blocks, on a thread of its own. A server that hangs up while OpenSSL writes does not end the
/// program: the signal is the writing thread's own, and blocked there.
func startThread(_ name: String, _ body: @escaping @Sendable () -> Void) {
    let thread = Thread {
        // Named from within: on Linux Foundation gives the system the name of the running thread only.
        Thread.current.name = name
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        body()
    }
    thread.start()
}
