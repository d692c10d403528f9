import Directory
import Storage

extension Verification {
    /// Whether this is the first that shows the account's address to be read by whoever owns it. Asked in the
    /// transaction that writes it down.
    func isFirstWord(in db: any Transaction) throws -> Bool {
        guard let user else { return false }
        return try !db.rows("SELECT id FROM users WHERE id = \(user) AND email_verified = 0").isEmpty
    }

    /// What others must hear of a first word. A link that no browser asked for came of a sign-up in an app, which its
    /// person knows; where any other leads could be anybody's choice.
    var takeover: UserEvent { .takenOver(signUp: browser == nil && !continueTo.isEmpty ? continueTo : nil) }
}
