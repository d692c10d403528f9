/// Asks before one person's session in this browser gives way to another's.
///
/// Posts `form_token` and `decision`, which is `allow` (continue as the other) or `deny` (stay), to `action`.
public struct SwitchAccountPage: Sendable {
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

    static var template: Template<Self> {
        get throws {
            try Template(
                title: "Continue as somebody else?",
                body: """
                    <p>You are signed in here as <strong><bdi>{{current}}</bdi></strong>. \
                    An application wants to continue as <strong><bdi>{{other}}</bdi></strong>.</p>
                    <form method="post" action="{{action}}">
                    <input type="hidden" name="form_token" value="{{formToken}}">
                    <button type="submit" name="decision" value="deny">Stay as <bdi>{{current}}</bdi></button>
                    <button type="submit" name="decision" value="allow" class="second">\
                    Continue as <bdi>{{other}}</bdi></button>
                    </form>
                    """)
        }
    }
}
