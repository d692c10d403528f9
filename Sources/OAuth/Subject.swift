public import Values

/// The person a token speaks for, and when that person last proved to be that person.
public struct Subject: Sendable, Hashable {
    public let account: AccountID
    public let signedInAt: Timestamp

    public init(account: AccountID, signedInAt: Timestamp) {
        self.account = account
        self.signedInAt = signedInAt
    }
}
