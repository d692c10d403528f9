import Cryptography
import Directory
import JSON
import Values

/// A signed assertion that a client sends instead of a secret (RFC 7521 §4.2). Not verified yet.
public struct ClientAssertion: Sendable {
    /// RFC 7523 §2.2.
    public static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    let text: String
    /// The client that it claims to come from.
    let subject: Client.ID
    /// The path that it was sent to.
    let path: String

    /// The assertion of a request to `path`, or nil when it has none.
    static func read(_ parameters: Parameters, at path: String) throws(OAuthError) -> ClientAssertion? {
        let type = parameters[.clientAssertionType]
        guard let text = parameters[.clientAssertion] else {
            guard type == nil else { throw .clientAssertionMalformed }
            return nil
        }
        guard type == Self.type, let subject = subject(of: text) else { throw .clientAssertionMalformed }
        // RFC 7523 §3, 2.B: the subject is the client's id. A `client_id` beside it must be the same.
        guard parameters[.clientID].map({ $0 == subject }) ?? true else {
            throw .clientRefused("assertion_of_another_client", Client.ID(subject))
        }
        return ClientAssertion(text: text, subject: Client.ID(subject), path: path)
    }

    /// The unverified `sub` of an assertion. A NUL is refused: it is in no client id and cannot be stored.
    private static func subject(of text: String) -> String? {
        guard text.utf8.count <= 16 * 1024 else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64URL.decode(parts[1]), let claims = try? JSON(parsing: payload),
            let subject = claims["sub"]?.string, !subject.isEmpty, !subject.utf8.contains(0)
        else { return nil }
        return subject
    }
}
