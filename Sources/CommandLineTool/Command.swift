/// Options, flags and arguments that belong together, declared as properties.
public protocol CommandArguments {
    init()

    /// Throws for values that are invalid together.
    func validate() throws(Misuse)
}

extension CommandArguments {
    /// Accepts every combination of values.
    public func validate() throws(Misuse) {}

    /// Reads `arguments`, which contain no subcommand.
    public static func parse(_ arguments: [String]) throws(CommandExit) -> Self {
        let parsed = Self()
        let name = String(describing: Self.self).kebabCased
        try CommandLineReader(Declarations(of: parsed), usage: Usage(names: [name])).read(arguments)
        return parsed
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
        try CommandLineReader(declarations, usage: Usage(path, declarations)).read(rest)
        guard !(command is any CommandGroup) else { throw CommandExit(help: path) }
        return command
    }
}
