public import Directory
public import JOSE

/// The public keys of clients, stored here or published by the client.
public struct ClientKeys: Sendable {
    /// Fetches the key set at an address: from the cache, or anew when it lacked the key.
    public struct Published: Sendable {
        /// `share` says whose budget of outbound requests pays for it (`Client.outboundShare`).
        public typealias Fetch = @Sendable (_ address: String, _ share: String) async throws -> AssertionKeys

        let known: Fetch
        let anew: Fetch

        public init(known: @escaping Fetch, anew: @escaping Fetch) {
            self.known = known
            self.anew = anew
        }
    }

    private let published: Published

    public init(published: Published) { self.published = published }

    /// Verifies that `client` signed `token` with one of its keys, by one of `allowed`. Does not check the claims.
    ///
    /// Throws a `JWTRejection`, or what `Published` throws when a key set cannot be fetched.
    public func verify(
        _ token: String, of client: Client, allowed: Set<SignatureAlgorithm>
    ) async throws -> VerifiedJWT {
        // A public key is no secret, so as an HMAC key it would prove nothing.
        let allowed = allowed.filter { !$0.isSymmetric }
        switch client.openID.keys {
        case .none: throw JWTRejection.unknownKey
        case .keySet(let set): return try await set.keys.verify(token, allowed: allowed)
        case .address(let address):
            do {
                return try await published.known(address, client.outboundShare).quick.verify(token, allowed: allowed)
            } catch let rejection as JWTRejection where rejection.mayBeOfNewKey(token) {
                // The client may have started to use a new key.
                return try await published.anew(address, client.outboundShare).quick.verify(token, allowed: allowed)
            }
        }
    }
}
