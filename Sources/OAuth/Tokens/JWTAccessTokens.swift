import Cryptography
public import Directory
public import JSON
public import Keys
public import Values

/// Access tokens that resource servers can read and verify with our key set (RFC 9068). They are stored and ended like
/// opaque tokens, for every server that asks us.
public struct JWTAccessTokens: Sendable {
    /// The subject identifier of a user for a client, which may be the client's own.
    public typealias Name = @Sendable (UserID, Client) async throws -> String
    /// The client's claims about a user (`access_token_claims`).
    public typealias Claims = @Sendable (UserID, Client) async throws -> [JSON.Member]

    /// How many bytes the claims from a user's attributes have together. Others are left out, and introspection has
    /// them: a token must fit into a header field, here and at resource servers.
    static let mostOfClaims = 4096

    private let issuer: String
    private let ring: KeyRing
    private let name: Name
    private let claims: Claims

    public init(issuer: String, ring: KeyRing, name: @escaping Name, claims: @escaping Claims) {
        self.issuer = issuer
        self.ring = ring
        self.name = name
        self.claims = claims
    }

    /// The subject identifier of the user of `authorization` for its client.
    func subject(of authorization: Authorization) async throws -> String? {
        guard let user = authorization.subject?.user else { return nil }
        return try await name(user, authorization.client)
    }

    /// A signed token for `authorization`, whose `jti` is `id`. Signed before a redemption is won, because signing can
    /// fail.
    func token(for authorization: Authorization, id: String, at now: Timestamp) async throws -> Secret<AccessToken> {
        let client = authorization.client
        let key = try await ring.current(client.openID.accessTokenAlgorithm)
        let subject = try await subject(of: authorization) ?? client.id.text
        let standard: JSON = .members([
            "iss": .string(issuer), "exp": .integer((now + authorization.lifetime).seconds),
            "aud": .string(authorization.request.resource ?? issuer), "sub": .string(subject),
            "client_id": .string(client.id.text), "iat": .integer(now.seconds), "jti": .string(id),
            "auth_time": authorization.subject.map { .integer($0.signedInAt.seconds) },
            "scope": authorization.scope.isEmpty ? nil : .string(authorization.scope.description),
        ])
        var members = standard.members ?? []
        if let user = authorization.subject?.user {
            var room = Self.mostOfClaims
            members += try await claims(user, client).filter { claim in
                let size = claim.name.utf8.count + claim.value.text.utf8.count
                guard size <= room else { return false }
                room -= size
                return true
            }
        }
        return Secret(key.sign(.object(members), type: client.openID.accessTokenType.rawValue))
    }
}
