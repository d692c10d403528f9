/// The line that says how a command is called.
struct Usage {
    let name: String
    let text: String

    init(_ path: CommandPath, _ declarations: Declarations) {
        let rest = path.command is any CommandGroup.Type ? "<subcommand>" : Self.parameters(declarations.parameters)
        name = path.name
        text = ([name] + (rest.isEmpty ? [] : [rest])).joined(separator: " ")
    }

    /// Of options that no command line of a program asks for, but a test.
    init(names: [String]) {
        name = names.joined(separator: " ")
        text = "\(name) <options>"
    }

    /// What must be given by name; what may be left out as `<options>`.
    private static func parameters(_ parameters: [Parameter]) -> String {
        let named = parameters.filter { $0.form == .argument || $0.isRequired }
            .map { $0.isRequired ? $0.synopsis : "[\($0.synopsis)]" }
        guard named.count < parameters.count else { return named.joined(separator: " ") }
        return named.isEmpty ? "<options>" : (["[<options>]"] + named).joined(separator: " ")
    }
}
