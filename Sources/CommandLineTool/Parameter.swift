/// One argument, option or flag of a command line.
struct Parameter {
    enum Form {
        /// A value identified by its position.
        case argument
        /// A name with a value.
        case option
        /// A name alone.
        case flag
    }

    let form: Form
    /// `--listen`; a deniable flag also has `--no-…`; empty for an argument.
    var names: [String] = []
    let valueName: String
    let help: String
    var isRequired = false
    /// The default value, as the help shows it.
    var defaultText: String?
    /// The title of its section in the help.
    var section: String?
    /// Takes the value, or the name of a flag; false when it is invalid.
    let take: (String) -> Bool

    /// Its name in errors and usage lines.
    var synopsis: String {
        switch form {
        case .argument: "<\(valueName)>"
        case .option: "\(names[0]) <\(valueName)>"
        case .flag: names.joined(separator: "/")
        }
    }
}

/// Holds a value that was read. Declarations are value types, so a command is filled through this class.
final class Slot<Value> {
    private var value: Value?
    private(set) var isFilled = false

    init(_ value: Value?) { self.value = value }

    /// The value. A command that lacks required values is never returned.
    var content: Value {
        guard let value else { preconditionFailure("a value was asked for before the command line was read") }
        return value
    }

    func fill(_ value: Value) {
        self.value = value
        isFilled = true
    }
}
