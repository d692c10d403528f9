import Directory
import Storage
import Values

/// Slows whoever has mails sent to others. Two buckets: the address that asks with its /48, which is charged before any
/// work is done, and the mailbox.
extension Throttle {
    private static func origin(_ address: String) -> [Bucket] {
        origin("mails from", address, burst: 30, refill: .minutes(2))
    }

    /// Each purpose has its own: whoever floods somebody with codes does not keep them from the link that sets a new
    /// password.
    private static func mailbox(_ recipient: EmailAddress, _ purpose: Verification.Purpose) -> Bucket {
        Bucket("mails to|\(purpose.rawValue)|\(recipient.text)", burst: 5, refill: .minutes(12))
    }

    /// Charges one mail that somebody at `address` asked for, or returns how long to wait without charging it.
    static func chargeAsking(from address: String, at now: Timestamp, in db: any Transaction) throws -> Duration? {
        try take(all: origin(address), at: now, in: db)
    }

    /// Takes that charge back: nothing was done for it.
    static func refundAsking(from address: String, in db: any Transaction) throws {
        for bucket in origin(address) { try giveBack(bucket, in: db) }
    }

    /// Charges one mail to `recipient`. False when the mailbox has had enough of late: whoever asked is told nothing, for
    /// that would tell of the mailbox.
    static func chargeMailbox(
        _ recipient: EmailAddress, for purpose: Verification.Purpose, at now: Timestamp, in db: any Transaction
    ) throws -> Bool {
        try take(mailbox(recipient, purpose), at: now, in: db) == nil
    }

    /// Wrong codes that were mailed to sign in to one account, whoever typed them and in answer to however many mails; but
    /// not where its owner is known.
    private static func codes(_ email: String) -> Bucket {
        Bucket("codes|\(email)", burst: 15, refill: .minutes(30))
    }

    /// How long nobody at an unknown place may try a code for `email`.
    static func waitForCode(_ email: String, at now: Timestamp, in db: any Transaction) throws -> Duration? {
        try wait(for: codes(email), at: now, in: db)
    }

    /// Charges a code that was wrong.
    static func chargeWrongCode(_ email: String, at now: Timestamp, in db: any Transaction) throws {
        _ = try take(codes(email), at: now, in: db)
    }
}
