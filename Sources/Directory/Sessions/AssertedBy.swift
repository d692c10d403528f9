public import Values

/// Who says that somebody is an account's person, where they did not show it here themselves.
public struct AssertedBy: Sendable {
    /// What logins call it.
    package let name: String
    /// The merchant for which alone its word is good; nil where it is good for all.
    let merchant: Merchant.ID?
    /// When the person signed in there; nil where it does not say.
    let signedInAt: Timestamp?

    public init(name: String, merchant: Merchant.ID?, signedInAt: Timestamp?) {
        self.name = name
        self.merchant = merchant
        self.signedInAt = signedInAt
    }
}

extension Session.Opening {
    /// The same, on the word of `assertedBy`.
    public func asserted(by assertedBy: AssertedBy) -> Session.Opening {
        var opening = by(assertedBy.signedInAt == nil ? .issuerUndated : .issuer)
        opening.assertedBy = assertedBy
        return opening
    }
}
