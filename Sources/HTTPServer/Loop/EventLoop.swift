import CLinux
import Synchronization
import Threads

/// One thread with its own connections. Tasks that prefer it run on that thread.
public final class EventLoop: TaskExecutor {
    /// The number of the loop, from 0.
    public let index: Int
    let poll: Poll
    let thread = ThreadMark()
    private let inbox = Mutex(Inbox())
    private let core: LoopBound<LoopCore>

    /// How many turns the loop takes at its end for remaining work.
    private static let lastTurns = 64

    /// What other threads left for the loop.
    struct Inbox {
        var jobs: [UnownedJob] = []
        var calls: [@Sendable (LoopCore) -> Void] = []
        var isAsleep = false
        var isStopping = false
        var ended: [CheckedContinuation<Void, Never>] = []
        var hasEnded = false

        var isEmpty: Bool { jobs.isEmpty && calls.isEmpty && !isStopping }
    }

    init(index: Int, mostHeld: Int) throws(ServerError) {
        self.index = index
        poll = try Poll()
        core = LoopBound(LoopCore(poll: poll, mostHeld: mostHeld), to: thread)
    }

    /// Whether the caller runs on this loop's thread.
    public var isCurrent: Bool { thread.isCurrent }

    /// The loop's own state; only its thread may ask.
    var local: LoopCore { core.value }

    /// Nil when the connection is gone, or when the caller is not on the loop's thread.
    func connection(_ id: ConnectionID) -> Connection? { isCurrent ? local.connection(id) : nil }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        guard !thread.isCurrent else { return core.value.jobs.append(job) }
        let (wakes, isOver) = inbox.withLock { inbox in
            guard !inbox.hasEnded else { return (false, true) }
            inbox.jobs.append(job)
            return (Self.wake(&inbox), false)
        }
        if wakes { poll.signal() }
        // The thread is gone, but code that waits for the job must not wait forever.
        if isOver { runElsewhere(job) }
    }

    /// Runs `call` on the loop, soon.
    func submit(_ call: @escaping @Sendable (LoopCore) -> Void) {
        let wakes = inbox.withLock { inbox in
            inbox.calls.append(call)
            return Self.wake(&inbox)
        }
        if wakes { poll.signal() }
    }

    /// Ends the thread after its current work.
    func stop() async {
        await withCheckedContinuation { continuation in
            let (wakes, isOver) = inbox.withLock { inbox in
                guard !inbox.hasEnded else { return (false, true) }
                inbox.ended.append(continuation)
                inbox.isStopping = true
                return (Self.wake(&inbox), false)
            }
            if wakes { poll.signal() }
            if isOver { continuation.resume() }
        }
    }

    /// One signal is enough for a batch: only the first call that finds the loop asleep sends it.
    private static func wake(_ inbox: inout Inbox) -> Bool {
        defer { inbox.isAsleep = false }
        return inbox.isAsleep
    }

    private func runElsewhere(_ job: UnownedJob) {
        let executor = unsafe asUnownedTaskExecutor()
        try? SystemThread.start(named: "spindle-late") { unsafe job.runSynchronously(on: executor) }
    }

    /// The body of the thread.
    func run() {
        thread.setCurrent()
        let core = core.value
        core.loop = self
        let executor = unsafe asUnownedTaskExecutor()
        var events = [linux_event](repeating: linux_event(), count: 256)
        while true {
            let mayWait = !core.hasWork
            let isEmpty = inbox.withLock { inbox in
                inbox.isAsleep = mayWait && inbox.isEmpty
                return inbox.isEmpty
            }
            let found = poll.wait(&events, milliseconds: mayWait && isEmpty ? core.patience : 0)
            core.beginTurn()
            for event in events.prefix(found) { core.take(event) }
            guard takeInbox(into: core) else { break }
            unsafe core.endTurn(on: executor)
        }
        core.close()
        for _ in 0..<Self.lastTurns where core.hasWork { unsafe core.endTurn(on: executor) }
        core.loop = nil
        end(core)
    }

    /// Takes what other threads left. False when the loop must end.
    private func takeInbox(into core: LoopCore) -> Bool {
        let (calls, isStopping) = inbox.withLock { inbox -> ([@Sendable (LoopCore) -> Void], Bool) in
            inbox.isAsleep = false
            core.jobs.append(contentsOf: inbox.jobs)
            inbox.jobs.removeAll(keepingCapacity: true)
            guard !inbox.calls.isEmpty else { return ([], inbox.isStopping) }
            defer { inbox.calls = [] }
            return (inbox.calls, inbox.isStopping)
        }
        for call in calls { call(core) }
        return !isStopping
    }

    private func end(_ core: LoopCore) {
        thread.clear()
        for job in core.jobs { runElsewhere(job) }
        core.jobs = []
        let (jobs, waiting) = inbox.withLock { inbox in
            inbox.hasEnded = true
            defer { (inbox.jobs, inbox.ended) = ([], []) }
            return (inbox.jobs, inbox.ended)
        }
        for job in jobs { runElsewhere(job) }
        for continuation in waiting { continuation.resume() }
    }
}

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
