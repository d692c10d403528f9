/// How a command is named and explained.
public struct CommandConfiguration: Sendable {
    let commandName: String?
    let abstract: String
    let discussion: String
    let version: String?
    let subcommands: [any Command.Type]

    /// Without `commandName` the command has the name of its type, `AddSecret` that of `add-secret`.
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
