import Storage

extension Verifications {
    /// Forgets what went to an address, whoever asked for it, in the caller's transaction: its account is to go.
    static func forget(email: String, in db: any Transaction) throws {
        try db.execute("DELETE FROM verifications WHERE email = \(email)")
    }
}
