/// Asks before one person's session in this browser gives way to another's.
///
/// Posts `form_token` and `decision`, which is `allow` (continue as the other) or `deny` (stay), to `action`.
public struct SwitchAccountPage: PageContents {
    let current: String
    let other: String
    let action: String
    let formToken: String

    public init(current: String, other: String, action: String, formToken: String) {
        self.current = current
        self.other = other
        self.action = action
        self.formToken = formToken
    }
}
