/// Asks whether to sign out, since a link alone must not. Posts `form_token` and `fields` to `action`.
public struct LogoutPage: Sendable {
    let account: String
    let action: String
    let formToken: String
    let fields: [HiddenField]

    public init(account: String, action: String, formToken: String, fields: [HiddenField] = []) {
        self.account = account
        self.action = action
        self.formToken = formToken
        self.fields = fields
    }

    static var template: Template<Self> {
        get throws {
            try Template(
                title: "Sign out?",
                body: """
                    <p>You are signed in as <strong><bdi>{{account}}</bdi></strong>.</p>
                    <form method="post" action="{{action}}">
                    <input type="hidden" name="form_token" value="{{formToken}}">
                    {{#fields}}
                    <input type="hidden" name="{{name}}" value="{{value}}">
                    {{/fields}}
                    <button type="submit">Sign out</button>
                    </form>
                    """)
        }
    }
}
