/// Asks a user who signs in while waiting for deletion whether to keep the account.
///
/// Posts `form_token`, `verification`, `continue` and `decision`, which is `keep` or `leave`, to `action`.
public struct RestorePage: PageContents {
    let action: String
    let formToken: String
    let verification: String
    let continueTo: String
    let dueAt: String

    /// - Parameter dueAt: when the account will be deleted: in UTC, as `2026-11-21 10:58`.
    public init(action: String, formToken: String, verification: String, continueTo: String, dueAt: String) {
        self.action = action
        self.formToken = formToken
        self.verification = verification
        self.continueTo = continueTo
        self.dueAt = dueAt
    }
}
