/// Asks before somebody is signed in whose sign-in nobody here asked for: in the place of another, or of nobody.
///
/// Posts `form_token` and `decision`, which is `allow` (continue as the other) or `deny` (stay), to `action`.
public struct SwitchAccountPage: PageContents {
    let current: String?
    let other: String
    let action: String
    let formToken: String

    /// - Parameter current: who is signed in; nil for nobody.
    public init(current: String?, other: String, action: String, formToken: String) {
        self.current = current
        self.other = other
        self.action = action
        self.formToken = formToken
    }
}
