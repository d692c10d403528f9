import Dispatch
import Glibc

/// Hears signals of the operating system, each time one comes, until it is cancelled. From then on they are ignored.
struct SignalWatch {
    private let sources: [any DispatchSourceSignal]

    init(_ numbers: Int32..., hear: @escaping @Sendable () -> Void) {
        sources = numbers.map { number in
            // Or it would end the process before the source hears it.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler(handler: hear)
            source.resume()
            return source
        }
    }

    func cancel() {
        for source in sources { source.cancel() }
    }
}
