import Cryptography
public import Directory
import JOSE
import JSON
import Keys
import OAuth
public import Values

/// An ID token of ours that a client sends back to name a user (OpenID Connect Core §3.1.2.1, RP-Initiated Logout §2).
/// It may have expired long ago, and proves nothing about its bearer.
public struct IDTokenHint: Sendable {
    public let client: Client
    /// The subject identifier of the user for `client`.
    public let subject: String
    /// `sid`: the browser session it was issued in.
    public let session: String?
    public let nonce: String?
    public let issuedAt: Timestamp
    public let expiresAt: Timestamp
    /// Whether only this server can have made it. One signed with the client's sign secret may be made by the client.
    public let isOursAlone: Bool

    let names: SubjectIdentifiers

    /// Whether it is about `user`.
    public func isAbout(_ user: UserID) async throws -> Bool {
        try await names.subject(user, for: client) == subject
    }

    /// Whether it was issued in the browser session `id`.
    public func isOf(session id: Session.ID) async throws -> Bool {
        guard let session else { return false }
        return try await names.session(id, for: client) == session
    }
}

/// Verifies ID tokens of ours that clients send back.
public struct IDTokenHints: Sendable {
    private let issuer: String
    private let signers: IDTokenSigners
    private let names: SubjectIdentifiers
    private let clients: Clients

    public init(issuer: String, signers: IDTokenSigners, names: SubjectIdentifiers, clients: Clients) {
        self.issuer = issuer
        self.signers = signers
        self.names = names
        self.clients = clients
    }

    /// Reads `text`; nil when it is not an ID token of ours, or its client is gone. Other JWTs of ours are refused by
    /// their `typ` (RFC 8725 §3.11), and access tokens, whose `typ` a client may have made `JWT`, by their client.
    public func read(_ text: String) async throws -> IDTokenHint? {
        guard let jwt = try await verified(text), jwt.header["typ"]?.string == IDToken.type,
            let issuer = try? jwt.issuer, issuer == self.issuer, let expiresAt = try? jwt.expiresAt,
            let issuedAt = try? jwt.issuedAt,
            jwt.claims["events"] == nil, jwt.isForItsClient, let subject = try? jwt.subject,
            let audience = try? jwt.audience,
            let name = audience.first, audience.count == 1, let client = try await clients.findLive(Client.ID(name))
        else { return nil }
        return IDTokenHint(
            client: client, subject: subject, session: jwt.claims["sid"]?.string,
            nonce: jwt.claims["nonce"]?.string, issuedAt: issuedAt, expiresAt: expiresAt,
            isOursAlone: jwt.header["alg"]?.string != SignatureAlgorithm.hs256.rawValue, names: names)
    }

    private func verified(_ text: String) async throws -> VerifiedJWT? {
        guard let header = CompactJWS.header(of: text) else { return nil }
        // RFC 8725 §2.1: a public key must never verify an HMAC, so the two ways have nothing in common.
        guard header["alg"]?.string != SignatureAlgorithm.hs256.rawValue else {
            return try await verifiedBySecret(text)
        }
        guard let id = header["kid"]?.string, let key = try await signers.ring.key(id),
            let algorithm = SignatureAlgorithm(rawValue: key.algorithm.rawValue)
        else { return nil }
        return try? await AssertionKeys(key.publicKey).verify(text, allowed: [algorithm])
    }

    /// Verifies it by the sign secret of its audience, if that client has such ID tokens. A `kid` means nothing here.
    private func verifiedBySecret(_ text: String) async throws -> VerifiedJWT? {
        // Nothing is verified yet, and no database accepts U+0000.
        guard let name = CompactJWS.unverifiedClaims(of: text)?["aud"]?.string, !name.utf8.contains(0),
            let client = try await clients.findLive(Client.ID(name)), client.openID.idTokenAlgorithm == .signSecret
        else { return nil }
        return try? await signers.secrets.keys(of: client).verify(text, allowed: [.hs256])
    }
}
