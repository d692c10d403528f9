public import Values

// Tests name sessions, clients and merchants by short words.

extension Identifier: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(value) }
}

extension Fingerprint: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(text: value) }
}
