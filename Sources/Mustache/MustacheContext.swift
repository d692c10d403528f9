/// A value whose members a template can name.
struct MustacheContext {
    let value: Any
    let members: [String: Any]

    init(_ value: Any) {
        self.value = value
        switch value {
        case let members as [String: Any]: self.members = members
        case is String: members = [:]
        default:
            members = Mirror(reflecting: value).children.reduce(into: [:]) { members, child in
                guard let name = child.label, let value = Self.unwrapped(child.value) else { return }
                members[name] = value
            }
        }
    }

    /// The value in an optional, or nil for none: a property without a value counts as missing.
    private static func unwrapped(_ value: Any) -> Any? {
        if let optional = value as? any OptionalValue { optional.wrapped } else { value }
    }
}

private protocol OptionalValue {
    var wrapped: Any? { get }
}

extension Optional: OptionalValue {
    fileprivate var wrapped: Any? { self }
}
