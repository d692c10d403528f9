/// The response an application would have got, for developers without one. In development mode only.
public struct DevelopmentAnswerPage: PageContents {
    let fields: [HiddenField]
    let command: String?
    let again: String

    /// - Parameters: `fields` are the response's parameters. `command` is the shell command that redeems its code.
    ///   `again` is the URL to try again at.
    public init(fields: [HiddenField], command: String?, again: String) {
        self.fields = fields
        self.command = command
        self.again = again
    }

    func words(_ texts: Texts) -> [String: Any] { ["hasFields": !fields.isEmpty] }
}
