import Synchronization

/// A request that somebody waits for.
struct HTTPJob: Sendable {
    /// Lets the one who waits give up.
    final class Ticket: Sendable {
        let isCancelled = Atomic(false)
    }

    let ticket: Ticket
    let request: HTTPClientRequest
    let deadline: ContinuousClock.Instant
    let continuation: CheckedContinuation<HTTPClientResponse, any Error>
}
