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
