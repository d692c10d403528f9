import CArgon2
import Dispatch
import Glibc
import Synchronization
import Threads

/// The queue between callers and the hashing threads.
final class HashingQueue: Sendable {
    /// Identifies one job, so that its caller can withdraw it.
    final class Ticket: Sendable {}

    struct Job: Sendable {
        let ticket: Ticket
        /// Called once: with false to do the work, with true when its caller has gone.
        let finish: @Sendable (_ dropped: Bool) -> Void
    }

    private struct State {
        var jobs: [Job] = []
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

    /// Adds `job` and returns true, or returns false when no thread is free and `limit` jobs already wait.
    func add(_ job: Job) -> Bool {
        let isAdded = state.withLock { state in
            guard state.jobs.count < limit + state.idle else { return false }
            state.jobs.append(job)
            return true
        }
        if isAdded { available.signal() }
        return isAdded
    }

    /// Takes a job that has not begun out of the queue.
    func drop(_ ticket: Ticket) {
        let job = state.withLock { state in
            state.jobs.firstIndex { $0.ticket === ticket }.map { state.jobs.remove(at: $0) }
        }
        job?.finish(true)
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
            while let job = next() { job.finish(false) }
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
                let job = state.jobs.isEmpty ? nil : state.jobs.removeFirst()
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

/// Lets token traffic go before queued sign-ins. On Linux a nice value belongs to the thread, and 0 means this one.
private func lowerPriorityOfThisThread() {
    #if os(Linux)
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
    #endif
}
