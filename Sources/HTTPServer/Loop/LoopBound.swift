/// What only one thread may touch, and a check that it is that one.
///
/// Unchecked because the compiler cannot know threads: `value` stops the process when another thread asks.
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
