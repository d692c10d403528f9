import Synchronization

/// An HTTP/1.1 client over libcurl: any number of requests at once, on one thread.
///
/// It follows no redirect, uses no proxy and no cookie, sends no credentials except those in a field, verifies
/// certificates, and connects only to the address it is given. The thread starts with the first request and ends with
/// the client.
public final class HTTPClient: Sendable {
    private let options: HTTPClientOptions
    private let queue = Mutex<TransferQueue?>(nil)

    public init(_ options: HTTPClientOptions) { self.options = options }

    deinit { queue.withLock { $0?.end() } }

    /// Sends `request`. Every status is a response. Throws `TransferError`, or `CancellationError` on cancellation.
    public func send(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
        let queue = try running()
        let ticket = HTTPJob.Ticket()
        let deadline = ContinuousClock.now + request.limits.time
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                queue.start(
                    HTTPJob(ticket: ticket, request: request, deadline: deadline, continuation: continuation))
            }
        } onCancel: {
            queue.cancel(ticket)
        }
    }

    private func running() throws(TransferError) -> TransferQueue {
        let found = queue.withLock { queue in
            if queue == nil, let waker = Waker() {
                let fresh = TransferQueue(waker)
                queue = (try? TransferLoop.start(fresh, options)) == nil ? nil : fresh
            }
            return queue
        }
        guard let found else { throw .failed("no descriptor or thread is left") }
        return found
    }
}
