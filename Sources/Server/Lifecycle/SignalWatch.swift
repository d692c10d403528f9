import Dispatch
import Glibc

/// Calls `hear` for each signal of the operating system until it is cancelled. The signals are ignored from then on.
struct SignalWatch {
    private let sources: [any DispatchSourceSignal]

    init(_ numbers: Int32..., hear: @escaping @Sendable () -> Void) {
        // A queue of its own gets a thread of its own: those of the shared pool may all be in work that blocks.
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
