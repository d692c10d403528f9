/// The path from the program to one of its commands.
struct CommandPath {
    /// Begins with the name of the program.
    private(set) var names: [String]
    private(set) var command: any Command.Type
    let version: String?

    init(root: any Command.Type) {
        names = [root.name]
        command = root
        version = root.configuration.version
    }

    var name: String { names.joined(separator: " ") }
    /// The path without the program's own name.
    var subcommand: String { names.dropFirst().joined(separator: " ") }

    /// Follows the names at the start of `arguments`, and returns the rest.
    func descend(_ arguments: [String]) throws(CommandExit) -> (path: CommandPath, rest: [String]) {
        guard arguments.first != "help" else { throw CommandExit(help: following(arguments.dropFirst()).path) }
        let (path, rest) = following(arguments[...])
        return (path, Array(rest))
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
