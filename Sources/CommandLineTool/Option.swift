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
                isRequired: isRequired, defaultText: defaultText, take: take)
        ]
    }
}

extension Option where Value: ArgumentValue {
    /// A required option. Its name is the property's, unless `name` is given.
    public init(name: String? = nil, help: String, valueName: String? = nil) {
        let slot = Slot<Value>(nil)
        self.init(slot, Description(name: name, help: help, valueName: valueName), isRequired: true) {
            Value(argument: $0).map(slot.fill) != nil
        }
    }

    /// An option with a default, which the help shows.
    public init(wrappedValue: Value, name: String? = nil, help: String, valueName: String? = nil) {
        let slot = Slot(wrappedValue)
        self.init(
            slot, Description(name: name, help: help, valueName: valueName), defaultText: "\(wrappedValue)"
        ) { Value(argument: $0).map(slot.fill) != nil }
    }
}

extension Option {
    /// An optional option.
    public init<Content: ArgumentValue>(name: String? = nil, help: String, valueName: String? = nil)
    where Value == Content? {
        let slot = Slot<Value>(.some(nil))
        self.init(slot, Description(name: name, help: help, valueName: valueName)) {
            Content(argument: $0).map(slot.fill) != nil
        }
    }

    /// An option that may be repeated.
    public init<Element: ArgumentValue>(
        wrappedValue: [Element], name: String? = nil, help: String, valueName: String? = nil
    ) where Value == [Element] {
        let slot = Slot(wrappedValue)
        self.init(slot, Description(name: name, help: help, valueName: valueName)) {
            Element(argument: $0).map { slot.fill((slot.isFilled ? slot.content : []) + [$0]) } != nil
        }
    }
}
