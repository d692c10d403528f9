import Directory
import Storage

extension Verification {
    /// Whether this is the first proof that the user's address is read by its owner. Must run in the transaction that
    /// marks the address as verified.
    func isFirstProof(in db: any Transaction) throws -> Bool {
        guard let user else { return false }
        return try !db.rows("SELECT id FROM users WHERE id = \(user) AND email_verified = 0").isEmpty
    }

    /// The event of a first proof. A link without a browser comes from a sign-up in an app, whose client the user
    /// knows; any other link's `continueTo` could be chosen by anyone.
    var takeover: UserEvent { .takenOver(signUp: browser == nil && !continueTo.isEmpty ? continueTo : nil) }
}
