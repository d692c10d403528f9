import CLinux
import Synchronization

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

/// The thread that a loop runs on; none before it starts and after it ends.
final class ThreadMark: Sendable {
    private let thread = Atomic<UInt64>(0)

    var isCurrent: Bool { thread.load(ordering: .relaxed) == linux_this_thread() }
    func setCurrent() { thread.store(linux_this_thread(), ordering: .releasing) }
    func clear() { thread.store(0, ordering: .releasing) }
}
