import CCurl
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
