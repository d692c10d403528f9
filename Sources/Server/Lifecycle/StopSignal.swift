import Dispatch
import Glibc
import Synchronization

/// Tells waiting tasks to stop. It is sent once, and later waiters see it too.
public final class StopSignal: Sendable {
    private struct State {
        var isSent = false
        var next = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    }
    private let state = Mutex(State())

    public init() {}

    public func send() {
        let waiting = state.withLock { state in
            state.isSent = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns when the signal is sent or the task is cancelled.
    func wait() async {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard !state.isSent, !Task.isCancelled else { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
        }
    }

    /// Runs `work`, which is cancelled when the signal is sent.
    func cancelling(_ work: @escaping @Sendable () async -> Void) async {
        await withTaskGroup { group in
            group.addTask { await work() }
            group.addTask { await self.wait() }
            await group.next()
            group.cancelAll()
        }
    }
}

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

/// Calls `hear` for each signal of the operating system until it is cancelled. The signals stay ignored afterwards.
struct SignalWatch {
    private let sources: [any DispatchSourceSignal]

    /// Calls `begins` for each of the signals once it is watched.
    init(_ numbers: Int32..., begins: @escaping @Sendable () -> Void = {}, hear: @escaping @Sendable () -> Void) {
        // A separate queue with its own thread: a signal is handled even when the shared ones are blocked.
        let queue = DispatchQueue(label: "spindle.signals")
        sources = numbers.map { number in
            // Otherwise the signal would end the process before the source sees it.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setRegistrationHandler(handler: begins)
            source.setEventHandler(handler: hear)
            source.resume()
            return source
        }
    }

    func cancel() {
        for source in sources { source.cancel() }
    }
}
