/// `--name`, which takes no value.
@propertyWrapper public struct Flag<Value>: Declaration {
    private let slot: Slot<Value>
    private let help: String
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
                take: { given in
                    slot.fill(value(given == denial))
                    return true
                })
        ]
    }
}

extension Flag where Value == Bool {
    /// A flag that is true if given.
    public init(wrappedValue: Bool, help: String) {
        slot = Slot(wrappedValue)
        self.help = help
        isDeniable = false
        value = { _ in true }
    }
}

extension Flag where Value == Bool? {
    /// A flag with its opposite, `--no-name`; nil if neither is given. Giving both, or one twice, is a misuse.
    public init(deniable help: String) {
        slot = Slot(.some(nil))
        self.help = help
        isDeniable = true
        value = { isDenied in !isDenied }
    }
}
