public import Values

/// What a request says about which client it comes from (RFC 6749 §2.3.1).
public struct ClientCredentials: Sendable {
    public let id: Client.ID
    public let secret: Secret<Client>?

    public init(id: Client.ID, secret: Secret<Client>?) {
        self.id = id
        self.secret = secret
    }

    /// The client of a request: from `basic`, the Authorization header's pair, or from the body, never both.
    public static func read(_ parameters: Parameters, basic: ClientCredentials?) throws(OAuthError)
        -> ClientCredentials
    {
        guard let basic else {
            guard let id = parameters[.clientID] else { throw .noClient }
            return ClientCredentials(id: Client.ID(id), secret: parameters[.clientSecret].map { Secret($0) })
        }
        guard parameters[.clientSecret] == nil else { throw .twoCredentials }
        // A client_id beside Basic is common and harmless when it says the same.
        guard parameters[.clientID].map({ $0 == basic.id.text }) ?? true else { throw .twoCredentials }
        return basic
    }
}
