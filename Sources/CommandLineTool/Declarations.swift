/// What a property of a command declares.
protocol Declaration {
    func parameters(of property: String) -> [Parameter]
    /// The groups of options that it holds.
    var groups: [any CommandArguments] { get }
}

extension Declaration {
    var groups: [any CommandArguments] { [] }
}

/// Everything that the properties of a command declare, in their order.
struct Declarations {
    private(set) var parameters: [Parameter] = []
    /// The groups inside first, then the command itself: each judges its own values.
    private(set) var groups: [any CommandArguments] = []

    init(of arguments: any CommandArguments) {
        for child in Mirror(reflecting: arguments).children {
            guard let declaration = child.value as? any Declaration, let label = child.label else { continue }
            // The storage of a wrapped property has its name after an underscore.
            parameters += declaration.parameters(of: String(label.drop { $0 == "_" }))
            groups += declaration.groups
        }
        groups.append(arguments)
    }
}
