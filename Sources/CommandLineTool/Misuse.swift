import Text

/// What is wrong with a command line.
public struct Misuse: Error, Sendable {
    let message: String
    /// The line of the help about the parameter.
    let help: String?

    /// An error that a command itself finds, as a whole sentence without full stop.
    public init(_ message: String) {
        self.message = message
        help = nil
    }

    /// Bytes that are not UTF-8 arrive as U+FFFD: as a file name they would mean another file.
    static let notText = Misuse("An argument is not text in UTF-8")

    private init(_ message: String, of parameter: Parameter) {
        self.message = message
        help = "\(parameter.synopsis)  \(parameter.help)"
    }

    static func unknownOption(_ name: String, known: [Parameter]) -> Misuse {
        let suggestion = name.nearest(of: known.flatMap(\.names))
        return Misuse("Unknown option '\(name)'" + (suggestion.map { ". Did you mean '\($0)'?" } ?? ""))
    }

    static func noCommand(_ name: String, meant: String?) -> Misuse {
        Misuse("There is no command '\(name)'" + (meant.map { ". Did you mean '\($0)'?" } ?? ""))
    }

    static func unexpected(_ arguments: [String]) -> Misuse {
        let quoted = arguments.map { "'\($0)'" }.joined(separator: ", ")
        return Misuse(
            arguments.count == 1
                ? "Unexpected argument \(quoted)" : "\(arguments.count) unexpected arguments: \(quoted)")
    }

    static func missing(_ parameter: Parameter) -> Misuse {
        Misuse("Missing expected argument '\(parameter.synopsis)'", of: parameter)
    }

    static func missingValue(of parameter: Parameter) -> Misuse {
        Misuse("Missing value for '\(parameter.synopsis)'", of: parameter)
    }

    static func invalid(_ value: String, for parameter: Parameter) -> Misuse {
        Misuse("The value '\(value)' is invalid for '\(parameter.synopsis)'", of: parameter)
    }

    static func unexpectedValue(_ value: String, of name: String) -> Misuse {
        Misuse("The option '\(name)' does not take any value, but '\(value)' was specified.")
    }

    static func contradiction(_ name: String, after earlier: String) -> Misuse {
        Misuse("Value to be set with flag '\(name)' had already been set with flag '\(earlier)'")
    }
}
