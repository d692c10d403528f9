import Cryptography
import Storage

/// The secret by which a client proves at the token endpoint that it made the request (RFC 7636 §4.1).
public struct CodeVerifier: Sendable {
    private let text: String

    /// RFC 7636 §4.1: 43 to 128 unreserved characters.
    public init(_ text: String) throws(OAuthError) {
        guard (43...128).contains(text.utf8.count), text.utf8.allSatisfy(\.isUnreserved) else {
            throw .malformed(.codeVerifier, "43 to 128 unreserved characters")
        }
        self.text = text
    }

    /// The S256 challenge of this verifier (RFC 7636 §4.2).
    public var challenge: CodeChallenge { CodeChallenge(stored: Base64URL.encode(Digest.sha256(text.utf8))) }
}

/// The S256 challenge of an authorization request.
public struct CodeChallenge: Sendable {
    let text: String

    init(stored text: String) { self.text = text }

    /// Reads `code_challenge` and its method. Refuses `plain`, which anyone who saw the request can answer.
    public static func read(_ parameters: Parameters) throws(OAuthError) -> CodeChallenge? {
        guard let text = parameters[.codeChallenge] else {
            guard parameters[.codeChallengeMethod] == nil else { throw .missing(.codeChallenge) }
            return nil
        }
        guard parameters[.codeChallengeMethod] == "S256" else {
            throw .malformed(.codeChallengeMethod, "S256 is the only method")
        }
        guard text.utf8.count == 43, Base64URL.decode(text) != nil else {
            throw .malformed(.codeChallenge, "the base64url SHA-256 of the verifier, 43 characters")
        }
        return CodeChallenge(stored: text)
    }

    /// Compares in constant time.
    public func isProven(by verifier: CodeVerifier) -> Bool {
        constantTimeEqual(verifier.challenge.text.utf8, text.utf8)
    }
}

extension UInt8 {
    fileprivate var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
