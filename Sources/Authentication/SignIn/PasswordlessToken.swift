import Cryptography
import Directory
import Values

/// What an app gets that asks for a code by mail, in the place of a browser's cookie: the code works only with it, and
/// only for the client that asked.
public struct PasswordlessToken: Sendable {
    let id: Verification.ID
    private let secret: Secret<Browser>

    init(id: Verification.ID, secret: Secret<Browser>) {
        self.id = id
        self.secret = secret
    }

    /// Reads what an app sends; nil when it cannot be one.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 2, text.utf8.count <= 200, text.utf8.allSatisfy({ $0.isASCII && $0 > 0x20 }) else {
            return nil
        }
        self.init(id: Verification.ID(String(parts[0])), secret: Secret(String(parts[1])))
    }

    public var text: String { "\(id.text).\(secret.value)" }

    static func holder(_ secret: Secret<Browser>, at client: Client.ID) -> Fingerprint<Browser> {
        Fingerprint(of: "passwordless|\(client.text)|\(secret.value)")
    }

    func holder(at client: Client.ID) -> Fingerprint<Browser> { Self.holder(secret, at: client) }
}

extension UInt8 {
    fileprivate var isASCII: Bool { self < 0x7F }
}
