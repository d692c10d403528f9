public import Values

/// Identifies a mail, the same at each attempt to send it, so that a receiver recognizes a duplicate.
public struct MessageID: Sendable, Hashable {
    /// Letters, digits and hyphens.
    public let id: String
    public let date: Timestamp

    public init(id: String, date: Timestamp) {
        self.id = id
        self.date = date
    }
}
