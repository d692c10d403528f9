/// What a text on the command line can be read as.
public protocol ArgumentValue: Sendable {
    /// Nil when `argument` does not stand for a value.
    init?(argument: String)
}

extension String: ArgumentValue {
    /// Takes every text as it stands.
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
