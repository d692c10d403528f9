public import Values

/// What a letter bears besides its text, the same at each attempt to send it: a receiver that gets it twice can see that.
public struct MessageID: Sendable, Hashable {
    /// Letters, digits and hyphens.
    public let id: String
    public let date: Timestamp

    public init(id: String, date: Timestamp) {
        self.id = id
        self.date = date
    }
}
