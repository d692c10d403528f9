import Synchronization

/// What callers hand to the loop of their client.
final class TransferQueue: Sendable {
    struct Work: Sendable {
        var jobs: [HTTPJob] = []
        var cancelled: [HTTPJob.Ticket] = []
        /// Nobody hands over anything any more.
        var isOver = false

        fileprivate var isEmpty: Bool { jobs.isEmpty && cancelled.isEmpty && !isOver }
    }

    let waker: Waker
    private let work = Mutex(Work())

    init(_ waker: Waker) { self.waker = waker }

    func start(_ job: HTTPJob) { add { $0.jobs.append(job) } }

    func cancel(_ ticket: HTTPJob.Ticket) {
        // The loop reads it before it starts a job; what it has started it is told of.
        ticket.isCancelled.store(true, ordering: .sequentiallyConsistent)
        add { $0.cancelled.append(ticket) }
    }

    func end() { add { $0.isOver = true } }

    /// Everything since the last call.
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
        // The loop takes all at once.
        if isFirst { waker.wake() }
    }
}
