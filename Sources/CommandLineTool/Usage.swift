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
