import Cryptography
import Directory
import Values

/// What an app gets when it asks for a mailed code, in place of a browser's cookie: the code works only with it, and
/// only for the client that asked.
public struct PasswordlessToken: Sendable {
    let id: Verification.ID
    private let secret: Secret<Browser>
    /// The language of the code's message, reused when the app asks for another code. It is in the token and not in the
    /// database, because the app may choose it anyway.
    public let language: String?

    init(id: Verification.ID, secret: Secret<Browser>, language: String?) {
        self.id = id
        self.secret = secret
        self.language = language
    }

    /// Reads what an app sends; nil when it cannot be one.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), text.utf8.count <= 200,
            text.utf8.allSatisfy({ $0.isASCII && $0 > 0x20 })
        else { return nil }
        self.init(
            id: Verification.ID(String(parts[0])), secret: Secret(String(parts[1])),
            language: parts.count == 3 ? String(parts[2]) : nil)
    }

    public var text: String { [id.text, secret.value, language].compactMap { $0 }.joined(separator: ".") }

    /// Cannot collide with a browser's cookie, whose fingerprint is a hash of the cookie alone.
    static func holder(_ secret: Secret<Browser>, at client: Client) -> Fingerprint<Browser> {
        Fingerprint(text: "app." + Fingerprint<Browser>(of: "\(client.id.text)|\(secret.value)").text)
    }

    func holder(at client: Client) -> Fingerprint<Browser> { Self.holder(secret, at: client) }
}

extension UInt8 {
    fileprivate var isASCII: Bool { self < 0x7F }
}
