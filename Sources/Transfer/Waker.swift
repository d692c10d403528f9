import CLinux
import Glibc

/// Wakes the thread that waits for transfers; any thread may call it.
final class Waker: Sendable {
    let descriptor: Int32

    /// Nil when the process has no descriptor left.
    init?() {
        descriptor = linux_eventfd()
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    func wake() { linux_eventfd_signal(descriptor) }

    /// Resets it, so that the next wait blocks again.
    func clear() {
        var count: UInt64 = 0
        _ = unsafe read(descriptor, &count, MemoryLayout<UInt64>.size)
    }
}
