/// One thing that a command line may hold.
struct Parameter {
    enum Form {
        /// A value by its position.
        case argument
        /// A name with a value.
        case option
        /// A name alone.
        case flag
    }

    let form: Form
    /// `--listen`; of a flag that can be denied the second is `--no-…`; none for an argument.
    var names: [String] = []
    let valueName: String
    let help: String
    var isRequired = false
    /// What the help says of the value without the option.
    var defaultText: String?
    /// The title of its section in the help.
    var section: String?
    /// Takes the value, or the name of a flag; false when it cannot be read.
    let take: (String) -> Bool

    /// As errors and usage lines name it.
    var synopsis: String {
        switch form {
        case .argument: "<\(valueName)>"
        case .option: "\(names[0]) <\(valueName)>"
        case .flag: names.joined(separator: "/")
        }
    }
}

/// Where a value waits that was read: a command is filled through its declarations, which are values.
final class Slot<Value> {
    private var value: Value?
    private(set) var isFilled = false

    init(_ value: Value?) { self.value = value }

    /// The value. A command whose required values are missing is never handed out.
    var content: Value {
        guard let value else { preconditionFailure("a value was asked for before the command line was read") }
        return value
    }

    func fill(_ value: Value) {
        self.value = value
        isFilled = true
    }
}
