/// Says one thing; every error that a person meets is one of these.
public struct MessagePage: Sendable {
    let title: String
    let text: String
    let detail: String?
    let hint: String?

    /// - Parameters:
    ///   - detail: what to quote to whoever helps: an error's name, a request's number.
    ///   - hint: what to do next.
    public init(title: String, text: String, detail: String? = nil, hint: String? = nil) {
        self.title = title
        self.text = text
        self.detail = detail
        self.hint = hint
    }

    static var template: Template<Self> {
        get throws {
            try Template(
                title: "{{title}}",
                body: """
                    <p>{{text}}</p>
                    {{#hint}}
                    <p>{{.}}</p>
                    {{/hint}}
                    {{#detail}}
                    <p><small><code>{{.}}</code></small></p>
                    {{/detail}}
                    """)
        }
    }
}
