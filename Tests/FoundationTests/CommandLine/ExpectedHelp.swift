import Testing

/// What `--help` prints for a command, word by word and column by column.
struct ExpectedHelp: Sendable, CustomTestStringConvertible {
    let command: String
    let text: String

    init(_ command: String, _ text: String) {
        self.command = command
        self.text = text
    }

    static let all = program + merchant + client + user + key + event

    var words: [String] { command.split(separator: " ").map(String.init) }
    var testDescription: String { "spindle \(command)" }
}
