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
    /// The member of a document that it sets, if the command sends one.
    var member = ""
    var isRequired = false
    /// The default value, as the help shows it.
    var defaultText: String?
    /// The topic of the help that describes it, if the help of its command does not.
    var topic: String?
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

/// The parameters that a property of a command declares.
protocol Declaration {
    func parameters(of property: String) -> [Parameter]
    /// The groups of options in it.
    var groups: [any CommandArguments] { get }
}

extension Declaration {
    var groups: [any CommandArguments] { [] }
}

/// All parameters that the properties of a command declare, in order.
struct Declarations {
    private(set) var parameters: [Parameter] = []
    /// Inner groups first, then the command itself: each validates its own values.
    private(set) var groups: [any CommandArguments] = []

    init(of arguments: any CommandArguments) {
        for child in Mirror(reflecting: arguments).children {
            guard let declaration = child.value as? any Declaration, let label = child.label else { continue }
            // The storage of a wrapped property has the property's name after an underscore.
            parameters += declaration.parameters(of: String(label.drop { $0 == "_" }))
            groups += declaration.groups
        }
        groups.append(arguments)
    }
}

/// A value identified by its position.
@propertyWrapper public struct Argument<Value>: Declaration {
    private let slot: Slot<Value>
    private let help: String
    private let isRequired: Bool
    private let take: (String) -> Bool

    /// The given value.
    public var wrappedValue: Value { slot.content }

    func parameters(of property: String) -> [Parameter] {
        [
            Parameter(
                form: .argument, valueName: property.kebabCased, help: help, isRequired: isRequired, take: take)
        ]
    }
}

extension Argument where Value: ArgumentValue {
    /// A required argument.
    public init(help: String = "") {
        let slot = Slot<Value>(nil)
        self.slot = slot
        self.help = help
        isRequired = true
        take = { Value(argument: $0).map(slot.fill) != nil }
    }
}

extension Argument {
    /// An optional argument; it must follow the required ones.
    public init<Content: ArgumentValue>(help: String = "") where Value == Content? {
        let slot = Slot<Value>(.some(nil))
        self.slot = slot
        self.help = help
        isRequired = false
        take = { Content(argument: $0).map(slot.fill) != nil }
    }
}

/// `--name`, which takes no value.
@propertyWrapper public struct Flag<Value>: Declaration {
    private let slot: Slot<Value>
    private let help: String
    private let member: String?
    private let isDeniable: Bool
    private let value: (_ isDenied: Bool) -> Value

    /// Whether the flag was given.
    public var wrappedValue: Value { slot.content }

    func parameters(of property: String) -> [Parameter] {
        let name = property.kebabCased
        let denial = "--no-" + name
        return [
            Parameter(
                form: .flag, names: ["--" + name] + (isDeniable ? [denial] : []), valueName: name, help: help,
                member: member ?? property.snakeCased,
                take: { given in
                    slot.fill(value(given == denial))
                    return true
                })
        ]
    }
}

extension Flag where Value == Bool {
    /// A flag that is true if given. It sets the member of a document with the property's name, unless `member` is
    /// given.
    public init(wrappedValue: Bool, help: String, sets member: String? = nil) {
        slot = Slot(wrappedValue)
        self.help = help
        self.member = member
        isDeniable = false
        value = { _ in true }
    }
}

extension Flag where Value == Bool? {
    /// A flag with its opposite, `--no-name`; nil if neither is given. Giving both, or one twice, is a misuse.
    public init(deniable help: String) {
        slot = Slot(.some(nil))
        self.help = help
        member = nil
        isDeniable = true
        value = { isDenied in !isDenied }
    }
}

/// `--name VALUE` or `--name=VALUE`. A list option may be repeated; otherwise the last one counts.
@propertyWrapper public struct Option<Value>: Declaration {
    private let slot: Slot<Value>
    private let description: Description
    private let isRequired: Bool
    private let defaultText: String?
    private let take: (String) -> Bool

    /// The given value, or the default.
    public var wrappedValue: Value { slot.content }

    private struct Description {
        let name: String?
        let help: String
        let valueName: String?
        let member: String?
    }

    private init(
        _ slot: Slot<Value>, _ description: Description, isRequired: Bool = false, defaultText: String? = nil,
        take: @escaping (String) -> Bool
    ) {
        self.slot = slot
        self.description = description
        self.isRequired = isRequired
        self.defaultText = defaultText
        self.take = take
    }

    func parameters(of property: String) -> [Parameter] {
        let name = description.name ?? property.kebabCased
        return [
            Parameter(
                form: .option, names: ["--" + name], valueName: description.valueName ?? name, help: description.help,
                member: description.member ?? property.snakeCased, isRequired: isRequired, defaultText: defaultText,
                take: take)
        ]
    }
}

extension Option where Value: ArgumentValue {
    /// A required option. Its name is the property's, unless `name` is given, and so is that of the member of a
    /// document that it sets.
    public init(name: String? = nil, help: String, valueName: String? = nil, sets member: String? = nil) {
        let slot = Slot<Value>(nil)
        self.init(
            slot, Description(name: name, help: help, valueName: valueName, member: member), isRequired: true
        ) { Value(argument: $0).map(slot.fill) != nil }
    }

    /// An option with a default, which the help shows.
    public init(wrappedValue: Value, name: String? = nil, help: String, valueName: String? = nil) {
        let slot = Slot(wrappedValue)
        self.init(
            slot, Description(name: name, help: help, valueName: valueName, member: nil),
            defaultText: "\(wrappedValue)"
        ) { Value(argument: $0).map(slot.fill) != nil }
    }
}

extension Option {
    /// An optional option.
    public init<Content: ArgumentValue>(
        name: String? = nil, help: String, valueName: String? = nil, sets member: String? = nil
    ) where Value == Content? {
        let slot = Slot<Value>(.some(nil))
        self.init(slot, Description(name: name, help: help, valueName: valueName, member: member)) {
            Content(argument: $0).map(slot.fill) != nil
        }
    }

    /// An option that may be repeated.
    public init<Element: ArgumentValue>(
        wrappedValue: [Element], name: String? = nil, help: String, valueName: String? = nil, sets member: String? = nil
    ) where Value == [Element] {
        let slot = Slot(wrappedValue)
        self.init(slot, Description(name: name, help: help, valueName: valueName, member: member)) {
            Element(argument: $0).map { slot.fill((slot.isFilled ? slot.content : []) + [$0]) } != nil
        }
    }
}

/// Options that several commands share.
@propertyWrapper public struct OptionGroup<Content: CommandArguments>: Declaration {
    /// The options with their given values.
    public let wrappedValue: Content
    private let topic: String?

    /// The help lists the options among the command's own.
    public init() {
        wrappedValue = Content()
        topic = nil
    }

    /// The help leaves the options to `help topic`.
    public init(topic: String) {
        wrappedValue = Content()
        self.topic = topic
    }

    func parameters(of property: String) -> [Parameter] {
        Declarations(of: wrappedValue).parameters.map { parameter in
            var parameter = parameter
            parameter.topic = parameter.topic ?? topic
            return parameter
        }
    }

    var groups: [any CommandArguments] { Declarations(of: wrappedValue).groups }
}

/// A type that can be read from a text on the command line.
public protocol ArgumentValue: Sendable {
    /// Nil when `argument` is not a value of this type.
    init?(argument: String)
}

extension String: ArgumentValue {
    /// Takes every text unchanged.
    public init(argument: String) { self = argument }
}

extension Int: ArgumentValue {
    /// Reads a whole decimal number.
    public init?(argument: String) { self.init(argument) }
}

extension Int64: ArgumentValue {
    /// Reads a whole decimal number.
    public init?(argument: String) { self.init(argument) }
}
