import CLinux
import Threads

/// The threads that serve connections, `spindle-loop-0` and on.
public final class EventLoops: Sendable {
    /// At least one.
    public let loops: [EventLoop]

    /// Bytes of answers that wait to be read, of all connections: forty of the largest, and less than a small machine has.
    public static let mostUnsent = 64 * 1024 * 1024
    /// A loop's share, however many there are: the largest answer, of an account's data, has a megabyte or two.
    private static let leastShare = 8 * 1024 * 1024

    /// Starts `count` threads, at least one. When more than `mostUnsent` bytes of answers wait to be read, the connections
    /// that most of them are for are closed: each loop looks after its share.
    public convenience init(count: Int) throws {
        try self.init(count: count, unsentOfEach: max(Self.mostUnsent / max(1, count), Self.leastShare))
    }

    init(count: Int, unsentOfEach: Int) throws {
        // A peer that is gone is an error of the write, never the end of the process.
        linux_ignore_broken_pipes()
        loops = try (0..<max(1, count)).map { try EventLoop(index: $0, mostUnsent: unsentOfEach) }
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

    /// Ends the threads, and the connections that are still open with them.
    public func shutdown() async {
        for loop in loops { await loop.stop() }
    }
}
