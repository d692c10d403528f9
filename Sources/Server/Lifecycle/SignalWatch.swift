import Dispatch
import Glibc

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
