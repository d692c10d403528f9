import Synchronization

/// What callers pass to the loop of their client.
final class TransferQueue: Sendable {
    struct Work: Sendable {
        var jobs: [HTTPJob] = []
        var cancelled: [HTTPJob.Ticket] = []
        /// No more work will come.
        var isOver = false

        fileprivate var isEmpty: Bool { jobs.isEmpty && cancelled.isEmpty && !isOver }
    }

    let waker: Waker
    private let work = Mutex(Work())

    init(_ waker: Waker) { self.waker = waker }

    func start(_ job: HTTPJob) { add { $0.jobs.append(job) } }

    func cancel(_ ticket: HTTPJob.Ticket) {
        // The loop checks this before it starts a job; the list stops a job that has started.
        ticket.isCancelled.store(true, ordering: .sequentiallyConsistent)
        add { $0.cancelled.append(ticket) }
    }

    func end() { add { $0.isOver = true } }

    /// All work since the last call.
    func take() -> Work {
        work.withLock { work in
            defer { work = Work() }
            return work
        }
    }

    private func add(_ change: (inout Work) -> Void) {
        let isFirst = work.withLock { work in
            defer { change(&work) }
            return work.isEmpty
        }
        // One wake-up is enough: the loop takes everything at once.
        if isFirst { waker.wake() }
    }
}
