/// What an application would have been told, for who tries things out without one. There in development mode only.
public struct DevelopmentAnswerPage: PageContents {
    let fields: [HiddenField]
    let command: String?
    let again: String

    /// - Parameters:
    ///   - fields: the answer's parameters.
    ///   - command: what redeems its code, on a command line.
    ///   - again: the address at which to try again.
    public init(fields: [HiddenField], command: String?, again: String) {
        self.fields = fields
        self.command = command
        self.again = again
    }

    func words(_ texts: Texts) -> [String: Any] { ["hasFields": !fields.isEmpty] }
}
