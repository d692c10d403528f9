/// Asks whether an application may have what it asks for.
///
/// Posts `form_token`, `fields` and `decision`, which is `allow` or `deny`, to `action`.
public struct ConsentPage: Sendable {
    /// One thing that is asked for, in the words of the protocol and of people.
    public struct Scope: Sendable {
        let name: String
        let description: String

        public init(name: String, description: String) {
            self.name = name
            self.description = description
        }
    }

    let clientName: String
    let merchantName: String
    let scopes: [Scope]
    let action: String
    let formToken: String
    let fields: [HiddenField]

    public init(
        clientName: String, merchantName: String, scopes: [Scope], action: String, formToken: String,
        fields: [HiddenField] = []
    ) {
        self.clientName = clientName
        self.merchantName = merchantName
        self.scopes = scopes
        self.action = action
        self.formToken = formToken
        self.fields = fields
    }

    static var template: Template<Self> {
        get throws {
            try Template(
                title: "Allow access?",
                body: """
                    <p><strong><bdi>{{clientName}}</bdi></strong> by <bdi>{{merchantName}}</bdi> asks to:</p>
                    <ul>
                    {{#scopes}}
                    <li>{{description}} <small><code>{{name}}</code></small></li>
                    {{/scopes}}
                    </ul>
                    <form method="post" action="{{action}}">
                    <input type="hidden" name="form_token" value="{{formToken}}">
                    {{#fields}}
                    <input type="hidden" name="{{name}}" value="{{value}}">
                    {{/fields}}
                    <button type="submit" name="decision" value="allow">Allow</button>
                    <button type="submit" name="decision" value="deny" class="second">Deny</button>
                    </form>
                    """)
        }
    }
}
