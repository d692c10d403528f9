import Text

/// Options, flags and arguments that belong together, declared as properties.
public protocol CommandArguments {
    init()

    /// Throws for values that are invalid together.
    func validate() throws(Misuse)
}

extension CommandArguments {
    /// Accepts every combination of values.
    public func validate() throws(Misuse) {}

    /// The names of the options, such as `--listen`.
    public static var optionNames: [String] { Declarations(of: Self()).parameters.flatMap(\.names) }

    /// The option or flag that sets `member` of a document.
    public static func option(setting member: String) -> String? {
        Declarations(of: Self()).parameters.first { !$0.names.isEmpty && $0.member == member }?.names.first
    }

    /// Reads `arguments`, which contain no subcommand.
    public static func parse(_ arguments: [String]) throws(CommandExit) -> Self {
        let parsed = Self()
        let name = String(describing: Self.self).kebabCased
        try CommandLineReader(Declarations(of: parsed), usage: Usage(names: [name])).read(arguments)
        return parsed
    }
}

/// A text of `help TOPIC`: what would be too long for the help of a command.
public struct HelpTopic: Sendable {
    let name: String
    let abstract: String
    let text: @Sendable () -> String

    public init(_ name: String, _ abstract: String, text: @escaping @Sendable () -> String) {
        self.name = name
        self.abstract = abstract
        self.text = text
    }

    /// A topic that lists `options`.
    public init(_ name: String, _ abstract: String, options: (some CommandArguments & SendableMetatype).Type) {
        self.init(name, abstract) { HelpText.list(abstract, of: options.init()) }
    }
}

/// A command of the program.
public protocol Command: CommandArguments, SendableMetatype {
    static var configuration: CommandConfiguration { get }

    /// Does the work, after the command line was read.
    func run() async throws
}

/// A command that only contains others; without a subcommand it prints its help.
public protocol CommandGroup: Command {}

extension CommandGroup {
    /// Does nothing: the help has been printed instead.
    public func run() async throws {}
}

extension Command {
    static var name: String { configuration.commandName ?? String(describing: Self.self).kebabCased }

    /// Reads a whole command line, without the name of the program, and returns its command.
    public static func command(for arguments: [String]) throws(CommandExit) -> any Command {
        let (path, rest) = try CommandPath(root: Self.self).descend(arguments)
        let command = path.command.init()
        let declarations = Declarations(of: command)
        try path.answerBuiltIns(rest)
        let usage = Usage(path, declarations)
        try path.refuseUnknown(rest.first, usage)
        try CommandLineReader(declarations, usage: usage).read(rest)
        guard !(command is any CommandGroup) else { throw CommandExit(help: path) }
        return command
    }
}

/// The path from the program to one of its commands.
struct CommandPath {
    /// Begins with the name of the program.
    private(set) var names: [String]
    private(set) var command: any Command.Type
    let version: String?
    let topics: [HelpTopic]

    init(root: any Command.Type) {
        names = [root.name]
        command = root
        version = root.configuration.version
        topics = root.configuration.topics
    }

    var name: String { names.joined(separator: " ") }
    /// The path without the program's own name.
    var subcommand: String { names.dropFirst().joined(separator: " ") }

    /// Follows the names at the start of `arguments`, and returns the rest.
    func descend(_ arguments: [String]) throws(CommandExit) -> (path: CommandPath, rest: [String]) {
        guard arguments.first != "help" else {
            if arguments.count == 2, let topic = topics.first(where: { $0.name == arguments[1] }) {
                throw CommandExit(topic: topic)
            }
            let (path, rest) = following(arguments.dropFirst())
            try path.refuseUnknown(rest.first, Usage(path, Declarations(of: path.command.init())), besides: topics)
            throw CommandExit(help: path)
        }
        let (path, rest) = following(arguments[...])
        return (path, Array(rest))
    }

    /// Refuses a word that is no command where one is expected.
    func refuseUnknown(_ word: String?, _ usage: Usage, besides topics: [HelpTopic] = []) throws(CommandExit) {
        guard let word, !word.hasPrefix("-"), command is any CommandGroup.Type else { return }
        let known = command.configuration.subcommands.map { $0.name } + topics.map(\.name)
        let name = subcommand.isEmpty ? word : "\(subcommand) \(word)"
        throw CommandExit(Misuse.noCommand(name, meant: word.nearest(of: known)), usage: usage)
    }

    /// Answers `--help` and `--version`, wherever they occur before `--`.
    func answerBuiltIns(_ arguments: [String]) throws(CommandExit) {
        let options = arguments.prefix { $0 != "--" }
        guard !options.contains("--help"), !options.contains("-h") else { throw CommandExit(help: self) }
        if let version, options.contains("--version") { throw CommandExit(version: version) }
    }

    private func following(_ names: ArraySlice<String>) -> (path: CommandPath, rest: ArraySlice<String>) {
        guard let name = names.first, let next = command.configuration.subcommands.first(where: { $0.name == name })
        else { return (self, names) }
        var path = self
        path.names.append(name)
        path.command = next
        return path.following(names.dropFirst())
    }
}

/// The name and the explanation of a command.
public struct CommandConfiguration: Sendable {
    let commandName: String?
    let abstract: String
    let discussion: String
    let version: String?
    let subcommands: [any Command.Type]
    let topics: [HelpTopic]

    /// Without `commandName`, the name comes from the type: `AddSecret` becomes `add-secret`.
    public init(
        commandName: String? = nil, abstract: String, discussion: String = "", version: String? = nil,
        subcommands: [any Command.Type] = [], topics: [HelpTopic] = []
    ) {
        self.commandName = commandName
        self.abstract = abstract
        self.discussion = discussion
        self.version = version
        self.subcommands = subcommands
        self.topics = topics
    }
}

/// Why a command line starts no command: the text to print and the exit status.
public struct CommandExit: Error, Sendable {
    /// The text to print, on standard output if `status` is 0, otherwise on standard error.
    public let text: String
    /// 0 after help and version, 64 after misuse (EX_USAGE of sysexits.h).
    public let status: Int32

    init(help path: CommandPath) {
        text = HelpText(path).text
        status = 0
    }

    init(topic: HelpTopic) {
        text = topic.text()
        status = 0
    }

    init(version: String) {
        text = version
        status = 0
    }

    init(_ misuse: Misuse, usage: Usage) {
        let help = misuse.help.map { "Help:  \($0)\n" } ?? ""
        text =
            "Error: \(misuse.message)\n\(help)Usage: \(usage.text)\n  See '\(usage.name) --help' for more information."
        status = 64
    }
}
