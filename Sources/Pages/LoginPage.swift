/// Asks for e-mail address and password. Posts `form_token`, `continue`, `email` and `password` to `action`.
public struct LoginPage: Sendable {
    let action: String
    let formToken: String
    let continueTo: String
    let email: String
    let message: String?
    let clientName: String?

    /// - Parameters:
    ///   - email: what to fill in: empty, or what was typed before a refusal.
    ///   - message: why the last attempt was refused.
    ///   - clientName: the application that sent the person here.
    public init(
        action: String, formToken: String, continueTo: String, email: String = "", message: String? = nil,
        clientName: String? = nil
    ) {
        self.action = action
        self.formToken = formToken
        self.continueTo = continueTo
        self.email = email
        self.message = message
        self.clientName = clientName
    }

    static var template: Template<Self> {
        get throws {
            try Template(
                title: "Sign in",
                body: """
                    {{#clientName}}
                    <p>to continue to <strong><bdi>{{.}}</bdi></strong></p>
                    {{/clientName}}
                    {{#message}}
                    <p class="refusal" role="alert" id="refusal">{{.}}</p>
                    {{/message}}
                    <form method="post" action="{{action}}">
                    <input type="hidden" name="form_token" value="{{formToken}}">
                    <input type="hidden" name="continue" value="{{continueTo}}">
                    <label for="email">E-mail address</label>
                    <input id="email" name="email" type="email" value="{{email}}" autocomplete="username"
                     autocapitalize="none" spellcheck="false" required{{#message}} aria-describedby="refusal"{{/message}}>
                    <label for="password">Password</label>
                    <input id="password" name="password" type="password" autocomplete="current-password"
                     required{{#message}} aria-describedby="refusal"{{/message}}>
                    <button type="submit">Sign in</button>
                    </form>
                    """)
        }
    }
}
