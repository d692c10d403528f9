/// Says who is signed in here. Its button posts `form_token` to `logoutAction`.
public struct SignedInPage: Sendable {
    let account: String
    let formToken: String
    let logoutAction: String

    /// - Parameter account: the name or e-mail address that the person knows themselves by.
    public init(account: String, formToken: String, logoutAction: String) {
        self.account = account
        self.formToken = formToken
        self.logoutAction = logoutAction
    }

    static var template: Template<Self> {
        get throws {
            try Template(
                title: "You are signed in",
                body: """
                    <p>as <strong><bdi>{{account}}</bdi></strong></p>
                    <form method="post" action="{{logoutAction}}">
                    <input type="hidden" name="form_token" value="{{formToken}}">
                    <button type="submit">Sign out</button>
                    </form>
                    """)
        }
    }
}
