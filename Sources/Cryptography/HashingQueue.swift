import CArgon2
import Foundation
import Glibc
import Threads

/// The queue between callers and the hashing threads.
///
/// `@unchecked` because the compiler cannot see that `jobs` and `closed` are only used under `condition`.
final class HashingQueue: @unchecked Sendable {
    /// Identifies one job, so that its caller can withdraw it.
    final class Ticket: Sendable {}

    struct Job: Sendable {
        let ticket: Ticket
        /// Called once: with false to do the work, with true when its caller has gone.
        let finish: @Sendable (_ dropped: Bool) -> Void
    }

    private let condition = NSCondition()
    private let limit: Int
    private var jobs: [Job] = []
    private var idle = 0
    private var closed = false

    init(limit: Int) { self.limit = limit }

    var waiting: Int { condition.withLock { jobs.count } }

    /// Adds `job` and returns true, or returns false when no thread is free and `limit` jobs already wait.
    func add(_ job: Job) -> Bool {
        condition.withLock {
            guard jobs.count < limit + idle else { return false }
            jobs.append(job)
            condition.signal()
            return true
        }
    }

    /// Takes a job that has not begun out of the queue.
    func drop(_ ticket: Ticket) {
        let job = condition.withLock {
            jobs.firstIndex { $0.ticket === ticket }.map { jobs.remove(at: $0) }
        }
        job?.finish(true)
    }

    /// Ends the threads once the queue is empty.
    func close() {
        condition.withLock {
            closed = true
            condition.broadcast()
        }
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
        condition.withLock {
            idle += 1
            defer { idle -= 1 }
            var isKept = true
            while jobs.isEmpty, !closed {
                if !isKept {
                    condition.wait()
                } else if !condition.wait(until: Date(timeIntervalSinceNow: 0.5)) {
                    isKept = false
                    condition.unlock()
                    spindle_return_freed_memory()
                    condition.lock()
                }
            }
            return jobs.isEmpty ? nil : jobs.removeFirst()
        }
    }
}

/// Lets token traffic go before queued sign-ins. On Linux a nice value belongs to the thread, and 0 means this one.
private func lowerPriorityOfThisThread() {
    #if os(Linux)
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
    #endif
}
