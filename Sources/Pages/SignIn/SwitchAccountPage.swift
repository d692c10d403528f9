/// Asks before a sign-in that was not requested in this browser, in place of another user or of none.
///
/// Posts `form_token` and `decision`, which is `allow` (continue as the other) or `deny` (stay), to `action`.
public struct SwitchAccountPage: PageContents {
    let current: String?
    let other: String
    let action: String
    let formToken: String

    /// - Parameter current: the signed-in user; nil if there is none.
    public init(current: String?, other: String, action: String, formToken: String) {
        self.current = current
        self.other = other
        self.action = action
        self.formToken = formToken
    }
}
