/// The name and the explanation of a command.
public struct CommandConfiguration: Sendable {
    let commandName: String?
    let abstract: String
    let discussion: String
    let version: String?
    let subcommands: [any Command.Type]

    /// Without `commandName`, the name comes from the type: `AddSecret` becomes `add-secret`.
    public init(
        commandName: String? = nil, abstract: String, discussion: String = "", version: String? = nil,
        subcommands: [any Command.Type] = []
    ) {
        self.commandName = commandName
        self.abstract = abstract
        self.discussion = discussion
        self.version = version
        self.subcommands = subcommands
    }
}
