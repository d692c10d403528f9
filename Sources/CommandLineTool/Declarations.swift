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
