import Synchronization

/// Whether the engine has refused a change for a reason that the next may meet too, as a full disk.
///
/// Changes that succeed do not settle it: a small one may find room where the next does not. Only a trial does. It is
/// made when a load balancer asks, so that a server is ready again although it is sent no changes.
public final class WriteDoubt: Sendable {
    private let isRaised = Atomic(false)

    public init() {}

    /// Notes a refused change.
    public func raise() { isRaised.store(true, ordering: .relaxed) }

    /// Calls `trial` if a change has been refused since it last succeeded.
    public func settle(by trial: () async throws -> Void) async throws {
        // Taken back first: a change that is refused meanwhile raises it again.
        guard isRaised.exchange(false, ordering: .relaxed) else { return }
        do {
            try await trial()
        } catch {
            raise()
            throw error
        }
    }
}
