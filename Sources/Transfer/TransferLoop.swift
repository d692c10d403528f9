import CCurl
import CLinux
import Glibc
import Synchronization
import Threads

/// Runs all requests of one client on one thread.
@safe final class TransferLoop {
    private let multi: UnsafeMutableRawPointer
    private let queue: TransferQueue
    private let options: HTTPClientOptions
    private var running: [UInt: (exchange: HTTPExchange, job: HTTPJob)] = [:]

    /// Nil when memory is short.
    private init?(_ queue: TransferQueue, _ options: HTTPClientOptions) {
        guard CurlFailure.isReady, let multi = unsafe curl_multi_init() else { return nil }
        unsafe self.multi = multi
        self.queue = queue
        self.options = options
        unsafe spindle_curl_multi_set_number(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING))
        if let most = options.mostConnectionsToHost {
            unsafe spindle_curl_multi_set_number(multi, CURLMOPT_MAX_HOST_CONNECTIONS, most)
            unsafe spindle_curl_multi_set_number(multi, CURLMOPT_MAXCONNECTS, most * 4)
        }
    }

    deinit { unsafe curl_multi_cleanup(multi) }

    /// Serves `queue` until it ends.
    static func start(_ queue: TransferQueue, _ options: HTTPClientOptions) throws(SystemThread.Unavailable) {
        try SystemThread.start(named: "spindle-http") {
            guard let loop = TransferLoop(queue, options) else { return Self.refuse(queue) }
            loop.run()
        }
    }

    private func run() {
        var isOver = false
        while true {
            let work = queue.take()
            for job in work.jobs { start(job) }
            for ticket in work.cancelled { cancel(ticket) }
            isOver = isOver || work.isOver
            guard !isOver || !running.isEmpty else { return }
            var count: Int32 = 0
            unsafe curl_multi_perform(multi, &count)
            finishAll()
            wait()
        }
    }

    private func wait() {
        var wakeUp = curl_waitfd(fd: queue.waker.descriptor, events: Int16(CURL_WAIT_POLLIN), revents: 0)
        guard unsafe curl_multi_poll(multi, &wakeUp, 1, 60_000, nil) == CURLM_OK else {
            // Out of memory or descriptors: a moment later there may be some.
            return SystemThread.sleep(for: .milliseconds(10))
        }
        if wakeUp.revents != 0 { queue.waker.clear() }
    }

    private func start(_ job: HTTPJob) {
        guard !job.ticket.isCancelled.load(ordering: .sequentiallyConsistent) else {
            return job.continuation.resume(throwing: CancellationError())
        }
        let rest = ContinuousClock.now.duration(to: job.deadline)
        guard rest > .zero else { return job.continuation.resume(throwing: TransferError.timedOut) }
        do {
            let exchange = try HTTPExchange(job.request, options, rest: rest)
            try unsafe exchange.handle.configure { easy in
                unsafe curl_multi_add_handle(multi, easy) == CURLM_OK ? CURLE_OK : CURLE_FAILED_INIT
            }
            running[exchange.handle.id] = (exchange, job)
        } catch let failure as CurlFailure {
            job.continuation.resume(throwing: TransferError.failed(CurlFailure.text(of: failure.code)))
        } catch {
            job.continuation.resume(throwing: error)
        }
    }

    private func cancel(_ ticket: HTTPJob.Ticket) {
        guard let (id, entry) = running.first(where: { $0.value.job.ticket === ticket }) else { return }
        remove(id, entry.exchange)
        entry.job.continuation.resume(throwing: CancellationError())
    }

    private func finishAll() {
        var left: Int32 = 0
        while let message = unsafe curl_multi_info_read(multi, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE, let easy = unsafe message.pointee.easy_handle else {
                continue
            }
            // Removing the transfer frees the message, so read it first.
            let code = unsafe message.pointee.data.result
            let id = UInt(bitPattern: easy)
            guard let (exchange, job) = running[id] else { continue }
            let outcome = exchange.outcome(code)
            remove(id, exchange)
            job.continuation.resume(with: outcome)
        }
    }

    private func remove(_ id: UInt, _ exchange: HTTPExchange) {
        running[id] = nil
        try? unsafe exchange.handle.configure { easy in
            unsafe curl_multi_remove_handle(multi, easy)
            return CURLE_OK
        }
        exchange.handle.close()
    }

    /// Fails the jobs of a queue whose loop could not start.
    private static func refuse(_ queue: TransferQueue) {
        while true {
            let work = queue.take()
            for job in work.jobs { job.continuation.resume(throwing: TransferError.failed("libcurl does not start")) }
            guard !work.isOver else { return }
            SystemThread.sleep(for: .milliseconds(10))
        }
    }
}

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

/// A request that a caller waits for.
struct HTTPJob: Sendable {
    /// Lets the caller cancel.
    final class Ticket: Sendable {
        let isCancelled = Atomic(false)
    }

    let ticket: Ticket
    let request: HTTPClientRequest
    let deadline: ContinuousClock.Instant
    let continuation: CheckedContinuation<HTTPClientResponse, any Error>
}

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
