import Synchronization

/// Whether the engine has refused a change for a reason that may persist, such as a full disk.
///
/// Later changes that succeed do not settle it: a small one may find room where a larger one does not. Only a trial
/// does. It runs when a load balancer asks, so that a server becomes ready again even if it is sent no changes.
public final class WriteDoubt: Sendable {
    private let isRaised = Atomic(false)

    public init() {}

    /// Notes a refused change.
    public func raise() { isRaised.store(true, ordering: .relaxed) }

    /// Calls `trial` if a change has been refused since it last succeeded.
    public func settle(by trial: () async throws -> Void) async throws {
        // Cleared first: a change that is refused meanwhile raises it again.
        guard isRaised.exchange(false, ordering: .relaxed) else { return }
        do {
            try await trial()
        } catch {
            raise()
            throw error
        }
    }
}
