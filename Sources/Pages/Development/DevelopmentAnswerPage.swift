/// What an application would have been told, for developers who have none. Exists only in development mode.
public struct DevelopmentAnswerPage: PageContents {
    let fields: [HiddenField]
    let command: String?
    let again: String

    /// - Parameters:
    ///   - fields: the answer's parameters.
    ///   - command: the shell command that redeems its code.
    ///   - again: the address to try again at.
    public init(fields: [HiddenField], command: String?, again: String) {
        self.fields = fields
        self.command = command
        self.again = again
    }

    func words(_ texts: Texts) -> [String: Any] { ["hasFields": !fields.isEmpty] }
}
