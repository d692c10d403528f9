public import Directory
public import Values

/// The credentials by which a request names its client (RFC 6749 §2.3, RFC 7521 §4.2).
public struct ClientCredentials: Sendable {
    /// The proof that comes with the client's id.
    public enum Proof: Sendable {
        case none
        case secret(Secret<Client>)
        case assertion(ClientAssertion)
    }

    public let id: Client.ID
    public let proof: Proof

    public init(id: Client.ID, secret: Secret<Client>?) {
        self.id = id
        self.proof = secret.map { .secret($0) } ?? .none
    }

    init(_ assertion: ClientAssertion) {
        self.id = assertion.subject
        self.proof = .assertion(assertion)
    }

    public var secret: Secret<Client>? { if case .secret(let secret) = proof { secret } else { nil } }

    /// The credentials of a request to `path`: from `basic`, the Authorization header's pair, or from the body, as a
    /// secret or an assertion. Never two of them (RFC 6749 §2.3).
    public static func read(
        _ parameters: Parameters, at path: String, basic: ClientCredentials?
    ) throws(OAuthError) -> ClientCredentials {
        if let assertion = try ClientAssertion.read(parameters, at: path) {
            guard basic == nil, parameters[.clientSecret] == nil else { throw .twoCredentials }
            return ClientCredentials(assertion)
        }
        guard let basic else {
            guard let id = parameters[.clientID] else { throw .noClient }
            return ClientCredentials(id: Client.ID(id), secret: parameters[.clientSecret].map { Secret($0) })
        }
        guard parameters[.clientSecret] == nil else { throw .twoCredentials }
        // A client_id beside Basic is common, and harmless when both are the same.
        guard parameters[.clientID].map({ $0 == basic.id.text }) ?? true else { throw .twoCredentials }
        return basic
    }
}
