public import Directory
public import Storage
public import Values

extension Verifications {
    /// Queues a verification's mail in the caller's transaction. If no mail may be sent, queues a blank delivery that
    /// looks the same and is never sent.
    public typealias Post = @Sendable (_ isSent: Bool, any Transaction) throws -> Void

    /// The outcome of asking for a mail.
    public enum Asked: Sendable {
        /// The answer is the same whether or not a mail was sent.
        case answered
        /// Too many mails or text messages were asked for, from this address or by this user.
        case wait(Duration)
    }

    /// Stores `draft` and queues its mail, or its text message, in one transaction. If the address has no user, or the
    /// mailbox had too many mails, the same rows are written but are useless: neither the response nor its timing
    /// reveals whether a user exists.
    ///
    /// - Parameters:
    ///   - address: the requester's IP address, to be charged; nil when it was charged before (`charge`).
    ///   - device: what the requester's browser is recognized by; one that the user is known in has mails of its own.
    ///   - backend: the client that has proved itself; the backends of a merchant that its reader uses have their own.
    ///   - authority: who asks; nil for a stranger, who always may.
    public func ask(
        _ draft: Draft, from address: String?, device: Secret<Device>? = nil, backend: Client? = nil,
        hasReader: Bool = true, by authority: (any Authority)? = nil, post: @escaping Post
    ) async throws -> Asked {
        let now = clock.now
        let verification = draft.verification
        let place = address.map { KnownDevices.Place(address: $0, device: device) }
        let work: @Sendable (any Transaction) throws -> Asked = { db in
            try authority?.confirm(in: db)
            if let wait = try Throttle.chargeAsking(of: verification, from: address, at: now, in: db) {
                return .wait(wait)
            }
            let fits = try Throttle.chargeRecipient(of: verification, at: place, by: backend, now, in: db)
            let isSent = hasReader && fits
            try Self.store(isSent ? draft : draft.blank, in: db)
            try post(isSent, db)
            return .answered
        }
        // Anyone may ask at any rate, and must not delay what ends the user's access. Whether the user may sign in and
        // has the address is checked again when the secret is taken.
        return authority == nil ? try await database.guardedWrite(work) : try await database.write(work)
    }

    /// Charges one mail that `address` asks for, before any work is done. Returns how long to wait if it has asked for
    /// too many.
    func charge(from address: String) async throws -> Duration? {
        let now = clock.now
        return try await database.write { db in try Throttle.chargeAsking(from: address, at: now, in: db) }
    }

    /// Refunds that charge: no work was done.
    func refund(to address: String) async throws {
        try await database.write { db in try Throttle.refundAsking(from: address, in: db) }
    }
}
