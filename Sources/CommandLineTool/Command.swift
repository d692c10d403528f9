/// Options, flags and arguments that belong together, declared as properties.
public protocol CommandArguments {
    init()

    /// Refuses values that do not go together.
    func validate() throws(Misuse)
}

extension CommandArguments {
    /// Accepts every combination of values.
    public func validate() throws(Misuse) {}

    /// Reads `arguments`, which name no subcommand.
    public static func parse(_ arguments: [String]) throws(CommandExit) -> Self {
        let parsed = Self()
        let name = String(describing: Self.self).kebabCased
        try CommandLineReader(Declarations(of: parsed), usage: Usage(names: [name])).read(arguments)
        return parsed
    }
}

/// What the program does when the command line names it.
public protocol Command: CommandArguments, SendableMetatype {
    static var configuration: CommandConfiguration { get }

    /// Does the work, after the command line was read.
    func run() async throws
}

/// A command that only holds others; named alone, it prints its help.
public protocol CommandGroup: Command {}

extension CommandGroup {
    /// Does nothing: the help has been printed instead.
    public func run() async throws {}
}

extension Command {
    static var name: String { configuration.commandName ?? String(describing: Self.self).kebabCased }

    /// Reads a whole command line, without the name of the program, and returns the command that it names.
    public static func command(for arguments: [String]) throws(CommandExit) -> any Command {
        let (path, rest) = try CommandPath(root: Self.self).descend(arguments)
        let command = path.command.init()
        let declarations = Declarations(of: command)
        try path.answerBuiltIns(rest)
        try CommandLineReader(declarations, usage: Usage(path, declarations)).read(rest)
        guard !(command is any CommandGroup) else { throw CommandExit(help: path) }
        return command
    }
}
