/// Options that several commands share.
@propertyWrapper public struct OptionGroup<Content: CommandArguments>: Declaration {
    /// The options with their given values.
    public let wrappedValue: Content
    private let title: String?

    /// The help lists the options among the command's own.
    public init() {
        wrappedValue = Content()
        title = nil
    }

    /// The help lists the options in their own section.
    public init(title: String) {
        wrappedValue = Content()
        self.title = title
    }

    func parameters(of property: String) -> [Parameter] {
        Declarations(of: wrappedValue).parameters.map { parameter in
            var parameter = parameter
            if let title { parameter.section = title }
            return parameter
        }
    }

    var groups: [any CommandArguments] { Declarations(of: wrappedValue).groups }
}
