/// A value that only one thread may touch, and the check that it does.
///
/// Unchecked because the compiler does not know threads: `value` stops the process when another thread asks.
struct LoopBound<Value>: @unchecked Sendable {
    private let bound: Value
    private let thread: ThreadMark

    init(_ value: Value, to thread: ThreadMark) {
        bound = value
        self.thread = thread
    }

    var value: Value {
        precondition(thread.isCurrent, "not on its event loop")
        return bound
    }
}
