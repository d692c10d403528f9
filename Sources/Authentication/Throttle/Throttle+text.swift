import Directory
import Storage
import Values

/// Limits text messages that are sent on request. Each costs the operator money, so the limits are lower than for
/// mails.
extension Throttle {
    /// Charges what `address`, if given, and a signed-in user ask for, or returns how long to wait without charging.
    static func chargeAsking(
        of verification: Verification, from address: String?, at now: Timestamp, in db: any Transaction
    ) throws -> Duration? {
        guard verification.phone != nil else {
            return try address.flatMap { try chargeAsking(from: $0, at: now, in: db) }
        }
        var buckets = address.map { origin("texts from", $0, burst: 10, refill: .minutes(6)) } ?? []
        // Signing up many users gives many shares, so each user has only a few numbers to try.
        if verification.purpose == .verifyPhone, let user = verification.user {
            buckets.append(Bucket("texts of|\(user)", burst: 5, refill: .hours(1)))
        }
        return try take(all: buckets, at: now, in: db)
    }

    /// A backend asks for users whose addresses are not seen here, so it is charged, together with its merchant for all
    /// its clients. A leaked secret uses up only half for the others.
    static func chargeText(
        by client: Client.ID, of merchant: Merchant.ID, at now: Timestamp, in db: any Transaction
    ) throws -> Duration? {
        let buckets = [
            Bucket("texts by client|\(client)", burst: 30, refill: .minutes(2)),
            Bucket("texts by|\(merchant)", burst: 60, refill: .minutes(1)),
        ]
        return try take(all: buckets, at: now, in: db)
    }

    /// Each purpose has its own bucket, as mails have.
    static func number(_ phone: PhoneNumber, _ purpose: Verification.Purpose, share: String) -> Bucket {
        Bucket("texts to|\(purpose.rawValue)|\(phone.text)\(share)", burst: 5, refill: .minutes(12))
    }
}
