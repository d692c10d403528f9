import Cryptography
public import Directory
public import Values

/// The use of a mailed secret in one browser.
///
/// A form whose answer got lost is sent again, and so is one that is clicked twice. The same secret in the same browser
/// makes the same attempt, which derives the same further secrets. So the second answer equals the first, and nothing
/// happens twice. A spent verification stores the attempt's id, so another browser's attempt is refused.
///
/// Everything is derived from the cookie of the browser's forms, which is not stored: the database, even with its key,
/// is not enough to make a session's secret.
public struct VerificationAttempt: Sendable {
    let id: String
    private let key: [UInt8]

    init(key: [UInt8]) {
        self.key = key
        id = Self.derive("attempt", key)
    }

    /// The secret of the session that it opens.
    public var session: Secret<Session> { Secret(Self.derive("session", key)) }
    /// The mark of a browser that has none.
    public var device: Secret<Device> { Secret(Self.derive("device", key)) }
    /// The page that offers a user to keep the account.
    var offer: Verification.ID { Verification.ID(Self.derive("offer", key)) }

    /// The secret of another thing that the attempt creates.
    public func secret<Entity>(of _: Entity.Type) -> Secret<Entity> {
        Secret(Self.derive("secret of \(Entity.self)", key))
    }

    private static func derive(_ label: String, _ key: [UInt8]) -> String {
        Base64URL.encode(Digest.hmacSHA256(Array(label.utf8), key: key))
    }
}

extension Verifications {
    /// The attempt with `key` in the browser whose forms have the cookie `browser`.
    public func attempt(with key: VerificationKey, in browser: Secret<Browser>?) -> VerificationAttempt {
        switch key {
        case .code(_, let id, _): attempt(at: "code|\(id)", in: browser)
        case .link(let link): attempt(at: "link|\(link.value)", in: browser)
        }
    }

    /// The attempt to decide about a deletion. Another decision is another attempt.
    public func attempt(
        at decision: UserDeletion.Decision, on id: Verification.ID, in browser: Secret<Browser>?
    ) -> VerificationAttempt {
        attempt(at: "\(decision)|\(id)", in: browser)
    }

    /// Without a browser, an attempt cannot be repeated.
    private func attempt(at use: String, in browser: Secret<Browser>?) -> VerificationAttempt {
        guard let browser else { return VerificationAttempt(key: random.bytes(32)) }
        let own = Digest.hmacSHA256(Array("browser|\(browser.value)".utf8), key: codeKey)
        return VerificationAttempt(key: Digest.hmacSHA256(Array(use.utf8), key: own))
    }
}
