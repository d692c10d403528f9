/// Options that several commands share.
@propertyWrapper public struct OptionGroup<Content: CommandArguments>: Declaration {
    /// The options, as they were given.
    public let wrappedValue: Content
    private let title: String?

    /// The options stand among the command's own in the help.
    public init() {
        wrappedValue = Content()
        title = nil
    }

    /// The options have a section of their own in the help.
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
