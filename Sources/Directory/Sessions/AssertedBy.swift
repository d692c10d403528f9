public import Values

/// The issuer whose assertion opened a session, instead of a sign-in here.
public struct AssertedBy: Sendable {
    /// Its id. The session rests while the issuer is disabled.
    let issuer: String
    /// Its name in the list of logins.
    package let name: String
    /// The only merchant for which its assertions are valid; nil if all.
    let merchant: Merchant.ID?
    /// When the user signed in there, if the issuer says so.
    let signedInAt: Timestamp?

    /// Whether a session that it opens is good for one merchant only.
    public var isConfined: Bool { merchant != nil }

    public init(issuer: String, name: String, merchant: Merchant.ID?, signedInAt: Timestamp?) {
        self.issuer = issuer
        self.name = name
        self.merchant = merchant
        self.signedInAt = signedInAt
    }
}

extension Session.Opening {
    /// The same, asserted by `assertedBy`.
    public func asserted(by assertedBy: AssertedBy) -> Session.Opening {
        var opening = by(.issuer)
        opening.assertedBy = assertedBy
        return opening
    }
}
