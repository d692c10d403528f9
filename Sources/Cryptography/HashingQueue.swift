import CArgon2
import Dispatch
import Glibc
import Synchronization
import Threads

/// The queue between callers and the hashing threads. Senders take turns: a sender with many jobs waits until all
/// others have had as many.
final class HashingQueue: Sendable {
    /// Identifies one job, so that its caller can withdraw it.
    final class Ticket: Sendable {}

    /// What happens to a job.
    enum Outcome {
        /// It is its turn.
        case begins
        /// Its caller has gone.
        case abandoned
        /// The queue is full, and its sender has most of it.
        case displaced
    }

    struct Job: Sendable {
        let ticket: Ticket
        /// Whose job it is: an IP address, or a merchant (`HashingPool`).
        let sender: String
        /// Called once.
        let finish: @Sendable (Outcome) -> Void
    }

    private struct State {
        var jobs = Turns<Job>()
        /// How many threads wait for a job.
        var idle = 0
        var isClosed = false
    }

    private let limit: Int
    private let state = Mutex(State())
    /// Signalled once for each job added, and after the end for each thread.
    private let available = DispatchSemaphore(value: 0)

    init(limit: Int) { self.limit = limit }

    var waiting: Int { state.withLock { $0.jobs.count } }

    /// Adds `job` and returns true. If no thread is free and `limit` jobs wait, it replaces the last job of the sender
    /// with the most jobs. If that would leave that sender with fewer than `job`'s own sender has, returns false.
    func add(_ job: Job) -> Bool {
        let (isAdded, displaced) = state.withLock { state in
            var displaced: Job?
            if state.jobs.count >= limit + state.idle {
                displaced = state.jobs.takeLastOfLargest(besides: job.sender)
                guard displaced != nil else { return (false, Job?.none) }
            }
            state.jobs.insert(job, of: job.sender)
            return (true, displaced)
        }
        if let displaced { displaced.finish(.displaced) } else if isAdded { available.signal() }
        return isAdded
    }

    /// Removes a job that has not begun from the queue.
    func drop(_ ticket: Ticket) {
        let job = state.withLock { state in state.jobs.take { $0.ticket === ticket } }
        job?.finish(.abandoned)
    }

    /// Ends the threads once the queue is empty.
    func close() {
        state.withLock { $0.isClosed = true }
        available.signal()
    }

    func startThread(named name: String) throws(SystemThread.Unavailable) {
        try SystemThread.start(named: name) { [self] in
            lowerPriorityOfThisThread()
            spindle_keep_freed_memory()
            while let job = next() { job.finish(.begins) }
        }
    }

    /// The next job, or nil at the end.
    ///
    /// After half a second without a job, the memory of the last hashes, 19 MiB each, goes back to the system. Between
    /// two hashes it is kept: allocating it again costs a third of a hash.
    private func next() -> Job? {
        state.withLock { $0.idle += 1 }
        var isKept = true
        while true {
            if !isKept {
                available.wait()
            } else if available.wait(timeout: .now() + .milliseconds(500)) == .timedOut {
                isKept = false
                spindle_return_freed_memory()
            }
            let (job, isOver) = state.withLock { state in
                let job = state.jobs.takeFirst()?.work
                let isOver = job == nil && state.isClosed
                if job != nil || isOver { state.idle -= 1 }
                return (job, isOver)
            }
            if let job { return job }
            if isOver {
                // The next thread ends too.
                available.signal()
                return nil
            }
        }
    }
}

/// Gives token traffic priority over queued sign-ins. On Linux a nice value belongs to the thread, and 0 means this
/// one.
private func lowerPriorityOfThisThread() {
    #if os(Linux)
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
    #endif
}
