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
