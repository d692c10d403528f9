/// One faulty setting. It never quotes the value, which may be a secret in the wrong place.
public struct ConfigurationFault: Sendable, Hashable, CustomStringConvertible {
    public let key: String
    /// What was expected, as the end of the sentence "must be …".
    public let expected: String
    /// Where the setting was given; nil when it was not.
    public let place: String?

    public init(_ key: String, _ expected: String, at place: String? = nil) {
        self.key = key
        self.expected = expected
        self.place = place
    }

    public var description: String { "\(key): must be \(expected)" + (place.map { " (\($0))" } ?? "") }
}

/// Everything that is wrong with a configuration, reported at once.
public struct ConfigurationFaults: Error, Sendable, CustomStringConvertible {
    public let faults: [ConfigurationFault]

    public init(_ faults: [ConfigurationFault]) { self.faults = faults }

    public var description: String { faults.map(\.description).joined(separator: "\n") }
}
