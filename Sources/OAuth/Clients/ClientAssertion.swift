import Cryptography
import Directory
import JSON
import Values

/// What a client that signs says instead of a secret (RFC 7521 §4.2). Nothing of it is believed yet.
public struct ClientAssertion: Sendable {
    /// RFC 7523 §2.2.
    public static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    let text: String
    /// Whose it claims to be.
    let subject: Client.ID

    /// The assertion of a request, or nil when it has none.
    static func read(_ parameters: Parameters) throws(OAuthError) -> ClientAssertion? {
        let type = parameters[.clientAssertionType]
        guard let text = parameters[.clientAssertion] else {
            guard type == nil else { throw .clientAssertionMalformed }
            return nil
        }
        guard type == Self.type, let subject = subject(of: text) else { throw .clientAssertionMalformed }
        // RFC 7523 §3, 2.B: the subject is the client's id. So must be the one beside it.
        guard parameters[.clientID].map({ $0 == subject }) ?? true else {
            throw .clientRefused("assertion_of_another_client", Client.ID(subject))
        }
        return ClientAssertion(text: text, subject: Client.ID(subject))
    }

    /// The `sub` of an assertion, as far as it can be read. A NUL is nobody's name, and no question to a database.
    private static func subject(of text: String) -> String? {
        guard text.utf8.count <= 16 * 1024 else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64URL.decode(parts[1]), let claims = try? JSON(parsing: payload),
            let subject = claims["sub"]?.string, !subject.isEmpty, !subject.utf8.contains(0)
        else { return nil }
        return subject
    }
}
