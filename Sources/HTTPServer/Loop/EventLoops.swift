import CLinux
import Threads

/// The threads that serve connections, from `spindle-loop-0` on.
public final class EventLoops: Sendable {
    /// At least one.
    public let loops: [EventLoop]

    /// Bytes that may be held for clients, over all connections: responses until they are read, requests until they are
    /// complete. Forty of the largest responses, and less memory than a small machine has.
    public static let mostHeld = 64 * 1024 * 1024
    /// The least share of a loop, however many there are: the largest response, a user's data export, has a megabyte or
    /// two.
    private static let leastShare = 8 * 1024 * 1024

    /// Starts `count` threads, at least one. When more than `mostHeld` bytes wait for clients, the connections with the
    /// most of them are closed; each loop enforces its own share.
    public convenience init(count: Int) throws {
        try self.init(count: count, heldOfEach: max(Self.mostHeld / max(1, count), Self.leastShare))
    }

    init(count: Int, heldOfEach: Int) throws {
        // A write to a broken connection must fail, and not end the process.
        linux_ignore_broken_pipes()
        loops = try (0..<max(1, count)).map { try EventLoop(index: $0, mostHeld: heldOfEach) }
        for loop in loops {
            do throws(SystemThread.Unavailable) {
                try SystemThread.start(named: "spindle-loop-\(loop.index)") { loop.run() }
            } catch {
                throw ServerError.system("start a thread", code: error.code)
            }
        }
    }

    /// The loop whose thread the caller runs on.
    public var current: EventLoop? { loops.first(where: \.isCurrent) }

    /// Ends the threads, and the connections that are still open.
    public func shutdown() async {
        for loop in loops { await loop.stop() }
    }
}
