import Glibc

/// The signals that end a command (SIGINT, SIGTERM, SIGHUP).
enum EndingSignals {
    /// Calls `tidy` when one of them comes, and then lets it end the process as usual. A signal that is ignored, as by
    /// nohup(1), stays ignored.
    static func watch(_ tidy: @escaping @Sendable () -> Void) async -> [SignalWatch] {
        var watches: [SignalWatch] = []
        for number in [SIGINT, SIGTERM, SIGHUP] where !isIgnored(number) {
            await withCheckedContinuation { begun in
                watches.append(
                    SignalWatch(number, begins: { begun.resume() }) {
                        tidy()
                        signal(number, SIG_DFL)
                        // Not raise(3): the thread of this call blocks signals.
                        kill(getpid(), number)
                    })
            }
        }
        return watches
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        let handlers = [action.__sigaction_handler.sa_handler, SIG_IGN].map { unsafeBitCast($0, to: Int.self) }
        return handlers[0] == handlers[1]
    }
}
