import Directory
public import Storage
import Values

extension Verifications {
    /// Puts a verification's mail into the post, in the caller's transaction; or, when it is not to be sent, something
    /// that looks alike there and never leaves.
    public typealias Post = @Sendable (_ isSent: Bool, any Transaction) throws -> Void

    /// What came of asking for a mail.
    public enum Asked: Sendable {
        /// The answer is the same whether or not one was sent.
        case answered
        /// Too many were asked for from here.
        case wait(Duration)
    }

    /// Stores `draft` and posts its mail in one transaction. Where there is nobody to write to, and for a mailbox that has
    /// had enough, the same rows are written, good for nothing: neither the answer nor its time tells of anybody.
    ///
    /// - Parameters:
    ///   - address: who asks, to be charged for it; nil when they were charged before (`charge`).
    ///   - confirm: refuses by throwing: whether who asks still may.
    public func ask(
        _ draft: Draft, from address: String?, hasReader: Bool = true,
        confirm: @escaping @Sendable (any Transaction) throws -> Void = { _ in }, post: @escaping Post
    ) async throws -> Asked {
        let now = clock.now
        let (email, purpose) = (draft.verification.email, draft.verification.purpose)
        return try await database.write { db in
            try confirm(db)
            if let address, let wait = try Throttle.chargeAsking(from: address, at: now, in: db) { return .wait(wait) }
            let fits = try EmailAddress(email).map { recipient in
                try Throttle.chargeMailbox(recipient, for: purpose, at: now, in: db)
            }
            let isSent = hasReader && fits == true
            try Self.store(isSent ? draft : draft.blank, in: db)
            try post(isSent, db)
            return .answered
        }
    }

    /// Charges one mail that somebody at `address` asks for, before work is done for it. Returns how long to wait instead,
    /// if they have asked for too many.
    func charge(from address: String) async throws -> Duration? {
        let now = clock.now
        return try await database.write { db in try Throttle.chargeAsking(from: address, at: now, in: db) }
    }

    /// Takes that charge back: no work was done.
    func refund(to address: String) async throws {
        try await database.write { db in try Throttle.refundAsking(from: address, in: db) }
    }
}
