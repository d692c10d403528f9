/// The help of a command.
struct HelpText {
    private static let width = 80
    /// The column where the explanations begin.
    private static let column = 26

    private let path: CommandPath
    private let declarations: Declarations

    init(_ path: CommandPath) {
        self.path = path
        declarations = Declarations(of: path.command.init())
    }

    var text: String {
        let sections =
            ["OVERVIEW: \(overview)".wrapped(to: Self.width) + "\n", "USAGE: \(usage.text)\n"]
            + [arguments, titled, options, subcommands].joined()
        let more = path.subcommand.isEmpty ? "" : path.subcommand + " "
        let hint =
            path.command.configuration.subcommands.isEmpty
            ? "" : "\n  See '\(path.names[0]) help \(more)<subcommand>' for detailed help."
        return sections.joined(separator: "\n") + hint
    }

    private var overview: String {
        let configuration = path.command.configuration
        return configuration.abstract + (configuration.discussion.isEmpty ? "" : "\n\n" + configuration.discussion)
    }

    private var usage: Usage { Usage(path, declarations) }

    private var arguments: [String] {
        section("Arguments", declarations.parameters.filter { $0.form == .argument }.map(Self.line))
    }

    /// The sections with their own titles, in the order in which they first appear.
    private var titled: [String] {
        var titles: [String] = []
        for title in declarations.parameters.compactMap(\.section) where !titles.contains(title) {
            titles.append(title)
        }
        return titles.flatMap { title in
            section(
                title, declarations.parameters.filter { $0.section == title && $0.form != .argument }.map(Self.line))
        }
    }

    private var options: [String] {
        let own = declarations.parameters.filter { $0.section == nil && $0.form != .argument }.map(Self.line)
        let version = path.version == nil ? [] : [Self.line("--version", "Show the version.")]
        return section("Options", own + version + [Self.line("-h, --help", "Show help information.")])
    }

    private var subcommands: [String] {
        section(
            "Subcommands",
            path.command.configuration.subcommands.map { Self.line($0.name, $0.configuration.abstract) })
    }

    private func section(_ title: String, _ lines: [String]) -> [String] {
        lines.isEmpty ? [] : ["\(title.uppercased()):\n" + lines.map { $0 + "\n" }.joined()]
    }

    private static func line(_ parameter: Parameter) -> String {
        let byDefault = parameter.defaultText.map { " (default: \($0))" } ?? ""
        return line(parameter.synopsis, parameter.help + byDefault)
    }

    /// A name with its meaning beside it, or below it if the name is too long.
    private static func line(_ name: String, _ meaning: String) -> String {
        let name = "  " + name
        guard !meaning.isEmpty else { return name }
        let explanation = meaning.wrapped(to: width, indent: column)
        return name.count < column ? name + explanation.dropFirst(name.count) : name + "\n" + explanation
    }
}
