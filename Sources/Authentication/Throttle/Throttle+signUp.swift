import Directory
import Storage
import Values

/// Limits the users that clients and administrators make.
extension Throttle {
    /// A backend signs up many users from one IP address, so the client is charged instead.
    static func chargeSignUp(by client: Client, at now: Timestamp, in db: any Transaction) throws -> Duration? {
        try take(all: signUps(by: client), at: now, in: db)
    }

    /// Refunds that charge.
    static func refundSignUp(by client: Client, in db: any Transaction) throws {
        for bucket in signUps(by: client) { try giveBack(bucket, in: db) }
    }

    /// The same for a user that an administrator of `merchant` makes, without a mail.
    static func chargeUser(by merchant: Merchant.ID, at now: Timestamp, in db: any Transaction) throws -> Duration? {
        try take(users(by: merchant), at: now, in: db)
    }

    private static func signUps(by client: Client) -> [Bucket] {
        var buckets = [Bucket("sign-ups by|\(client.id)", burst: 600, refill: .seconds(6))]
        // A merchant can make as many clients as it likes.
        if let merchant = client.merchant { buckets.append(users(by: merchant)) }
        return buckets
    }

    private static func users(by merchant: Merchant.ID) -> Bucket {
        Bucket("users by|\(merchant)", burst: 3000, refill: .seconds(1))
    }
}
