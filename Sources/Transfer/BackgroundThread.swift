import Foundation

/// Runs `body`, which blocks, on a thread of its own. The thread blocks SIGPIPE, so a server that hangs up while
/// OpenSSL writes does not end the program: the signal goes to the writing thread.
func startThread(_ name: String, _ body: @escaping @Sendable () -> Void) {
    let thread = Thread {
        // Named from inside: on Linux, Foundation passes only the running thread's name to the system.
        Thread.current.name = name
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        body()
    }
    thread.start()
}
