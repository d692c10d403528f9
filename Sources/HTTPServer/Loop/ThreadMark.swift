import CLinux
import Synchronization

/// The thread that a loop runs on; none before it starts and after it ends.
final class ThreadMark: Sendable {
    private let thread = Atomic<UInt64>(0)

    var isCurrent: Bool { thread.load(ordering: .relaxed) == linux_this_thread() }
    func setCurrent() { thread.store(linux_this_thread(), ordering: .releasing) }
    func clear() { thread.store(0, ordering: .releasing) }
}
