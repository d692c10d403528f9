/// Asks whether to delete the account. Posts `form_token` and, if it is asked for, `current_password` to `action`.
public struct DeleteAccountPage: PageContents {
    let action: String
    let formToken: String
    let email: String
    let graceDays: Int
    let asksPassword: Bool
    let refusal: PageRefusal?

    /// - Parameter graceDays: how long the user can cancel; 0 if not at all.
    public init(
        action: String, formToken: String, email: String, graceDays: Int, asksPassword: Bool,
        refusal: PageRefusal? = nil
    ) {
        self.action = action
        self.formToken = formToken
        self.email = email
        self.graceDays = graceDays
        self.asksPassword = asksPassword
        self.refusal = refusal
    }

    func words(_ texts: Texts) -> [String: Any] {
        let key = graceDays == 0 ? "now" : graceDays == 1 ? "tomorrow" : "days"
        var words: [String: Any] = ["when": texts["deleteAccount.when.\(key)"]]
        words["refusal"] = refusal?.words(texts)
        return words
    }

    /// Every text that `words` may ask for.
    static let keys = ["now", "tomorrow", "days"].map { "deleteAccount.when.\($0)" }
}

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
