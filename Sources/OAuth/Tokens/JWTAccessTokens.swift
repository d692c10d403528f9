import Cryptography
public import Directory
import JSON
public import Keys
public import Values

/// Access tokens that others can read and verify by our key set (RFC 9068). They are stored like opaque ones: all that
/// ends those ends these, for whoever asks us.
public struct JWTAccessTokens: Sendable {
    /// Who a person is to a client, whose names for people may be its own.
    public typealias Name = @Sendable (UserID, Client) async throws -> String

    private let issuer: String
    private let ring: KeyRing
    private let name: Name

    public init(issuer: String, ring: KeyRing, name: @escaping Name) {
        self.issuer = issuer
        self.ring = ring
        self.name = name
    }

    /// Who the person of `authorization` is to its client.
    func subject(of authorization: Authorization) async throws -> String? {
        guard let user = authorization.subject?.user else { return nil }
        return try await name(user, authorization.client)
    }

    /// A signed token for `authorization`, whose `jti` is `id`. Whoever is not known by what it is signed with cannot have
    /// it: all that can fail comes before a claim is won.
    func token(for authorization: Authorization, id: String, at now: Timestamp) async throws -> Secret<AccessToken> {
        let client = authorization.client
        let key = try await ring.current(client.openID.idTokenAlgorithm)
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
