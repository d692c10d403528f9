import Synchronization

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
