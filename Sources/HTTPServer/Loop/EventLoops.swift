import CLinux

/// The threads that serve connections, `spindle-loop-0` and on.
public final class EventLoops: Sendable {
    /// At least one.
    public let loops: [EventLoop]

    /// Starts `count` threads, at least one.
    public init(count: Int) throws {
        // A peer that is gone is an error of the write, never the end of the process.
        linux_ignore_broken_pipes()
        loops = try (0..<max(1, count)).map { try EventLoop(index: $0) }
        for loop in loops {
            guard LoopThread.start(named: "spindle-loop-\(loop.index)", { loop.run() }) else {
                throw ServerError.system("pthread_create", code: 11)
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
