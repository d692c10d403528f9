import Dispatch
import Glibc

/// Calls `hear` for each signal of the operating system until it is cancelled. The signals are ignored from then on.
struct SignalWatch {
    private let sources: [any DispatchSourceSignal]

    init(_ numbers: Int32..., hear: @escaping @Sendable () -> Void) {
        // A queue of its own, with its own thread: whatever blocks the shared ones, a signal is heard.
        let queue = DispatchQueue(label: "spindle.signals")
        sources = numbers.map { number in
            // Otherwise the signal would end the process before the source sees it.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler(handler: hear)
            source.resume()
            return source
        }
    }

    func cancel() {
        for source in sources { source.cancel() }
    }
}
