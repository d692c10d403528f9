import Cryptography
public import Directory
import JSON
public import Keys
public import Values

/// Access tokens that resource servers can read and verify with our key set (RFC 9068). They are stored and ended like
/// opaque tokens, for every server that asks us.
public struct JWTAccessTokens: Sendable {
    /// The subject identifier of a user for a client, which may be the client's own.
    public typealias Name = @Sendable (UserID, Client) async throws -> String

    private let issuer: String
    private let ring: KeyRing
    private let name: Name

    public init(issuer: String, ring: KeyRing, name: @escaping Name) {
        self.issuer = issuer
        self.ring = ring
        self.name = name
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
        let claims: JSON = .members([
            "iss": .string(issuer), "exp": .integer((now + authorization.lifetime).seconds),
            "aud": .string(authorization.request.resource ?? issuer), "sub": .string(subject),
            "client_id": .string(client.id.text), "iat": .integer(now.seconds), "jti": .string(id),
            "auth_time": authorization.subject.map { .integer($0.signedInAt.seconds) },
            "scope": authorization.scope.isEmpty ? nil : .string(authorization.scope.description),
        ])
        return Secret(key.sign(claims, type: "at+jwt"))
    }
}
