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
            + [arguments, options, subcommands, topics].joined()
        let more = path.subcommand.isEmpty ? "" : path.subcommand + " "
        let hint =
            path.command.configuration.subcommands.isEmpty
            ? "" : "\n  See '\(path.names[0]) help \(more)<subcommand>' for detailed help."
        return sections.joined(separator: "\n") + hint
    }

    /// The options of `arguments`, below a title.
    static func list(_ title: String, of arguments: any CommandArguments) -> String {
        ([title + "\n"] + Declarations(of: arguments).parameters.map(line)).joined(separator: "\n")
    }

    /// Where the options stand that are left out here.
    private var topics: [String] {
        guard !path.topics.isEmpty, path.names.count > 1 else {
            return section("Topics", path.topics.map { Self.line($0.name, $0.abstract) })
        }
        let told = Set(declarations.parameters.compactMap(\.topic))
        let names = path.topics.filter { told.contains($0.name) }.map { "\(path.names[0]) help \($0.name)" }
        return names.isEmpty ? [] : ["  More options: \(names.joined(separator: ", "))\n"]
    }

    private var overview: String {
        let configuration = path.command.configuration
        return configuration.abstract + (configuration.discussion.isEmpty ? "" : "\n\n" + configuration.discussion)
    }

    private var shown: [Parameter] { declarations.parameters.filter { $0.topic == nil } }

    private var usage: Usage { Usage(path, declarations) }

    private var arguments: [String] {
        section("Arguments", shown.filter { $0.form == .argument }.map(Self.line))
    }

    private var options: [String] {
        let own = shown.filter { $0.form != .argument }.map(Self.line)
        let version = path.names.count > 1 || path.version == nil ? [] : [Self.line("--version", "Show the version.")]
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

/// The line that shows how to call a command.
struct Usage {
    let name: String
    let text: String

    init(_ path: CommandPath, _ declarations: Declarations) {
        let rest = path.command is any CommandGroup.Type ? "<subcommand>" : Self.parameters(declarations.parameters)
        name = path.name
        text = ([name] + (rest.isEmpty ? [] : [rest])).joined(separator: " ")
    }

    /// For options that are parsed without a program, as in tests.
    init(names: [String]) {
        name = names.joined(separator: " ")
        text = "\(name) <options>"
    }

    /// Required parameters by name; optional ones as `<options>`.
    private static func parameters(_ parameters: [Parameter]) -> String {
        let named = parameters.filter { $0.form == .argument || $0.isRequired }
            .map { $0.isRequired ? $0.synopsis : "[\($0.synopsis)]" }
        guard named.count < parameters.count else { return named.joined(separator: " ") }
        return named.isEmpty ? "<options>" : (["[<options>]"] + named).joined(separator: " ")
    }
}

extension String {
    /// `newKeyFile` and `NewKeyFile` as `new-key-file`; consecutive capitals are one word, as in `logo-uri`.
    var kebabCased: String {
        let letters = Array(self)
        var text = ""
        for (index, letter) in letters.enumerated() {
            if letter.isUppercase, index > 0 {
                let endsWord = !letters[index - 1].isUppercase
                let beginsWord = index + 1 < letters.count && letters[index + 1].isLowercase
                if endsWord || beginsWord { text += "-" }
            }
            text += letter.lowercased()
        }
        return text
    }

    /// `newKeyFile` as `new_key_file`: as members of documents are named.
    var snakeCased: String { kebabCased.replacing("-", with: "_") }

    /// Lines of at most `width` columns, `indent` of them blank; a longer word gets its own line.
    func wrapped(to width: Int, indent: Int = 0) -> String {
        let margin = String(repeating: " ", count: indent)
        return split(separator: "\n", omittingEmptySubsequences: false)
            .flatMap { $0.lines(of: width - indent) }
            .map { $0.isEmpty ? "" : margin + $0 }
            .joined(separator: "\n")
    }
}

extension Substring {
    fileprivate func lines(of width: Int) -> [Substring] {
        var lines: [Substring] = []
        var rest = self
        while rest.count > width, let space = rest.prefix(width).lastIndex(of: " ") ?? rest.firstIndex(of: " ") {
            lines.append(rest[..<space])
            rest = rest[rest.index(after: space)...]
        }
        return lines + [rest]
    }
}
