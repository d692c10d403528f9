import Cryptography
public import Directory
import JOSE
import JSON
public import Keys
import OAuth
public import Values

/// An ID token of ours that came back, to say whom a request is about (OpenID Connect Core §3.1.2.1, RP-Initiated Logout
/// §2). It may have expired long ago, and proves nothing of who brings it.
public struct IDTokenHint: Sendable {
    public let client: Client
    /// The person's name to `client`.
    public let subject: String
    /// `sid`: the browser session it was given in.
    public let session: String?
    public let nonce: String?
    public let expiresAt: Timestamp

    let names: SubjectIdentifiers

    /// Whether it is about `user`.
    public func isAbout(_ user: UserID) async throws -> Bool {
        try await names.subject(user, for: client) == subject
    }

    /// Whether it was given in the browser session `id`.
    public func isOf(session id: Session.ID) async throws -> Bool {
        guard let session else { return false }
        return try await names.session(id, for: client) == session
    }
}

/// Verifies ID tokens of ours that come back.
public struct IDTokenHints: Sendable {
    private let issuer: String
    private let ring: KeyRing
    private let names: SubjectIdentifiers
    private let clients: Clients

    public init(issuer: String, ring: KeyRing, names: SubjectIdentifiers, clients: Clients) {
        self.issuer = issuer
        self.ring = ring
        self.names = names
        self.clients = clients
    }

    /// What `text` says; nil when it is no ID token of ours, or of a client that is gone. No other JWT of ours is taken
    /// for one: those say what they are in `typ` (RFC 8725 §3.11).
    public func read(_ text: String) async throws -> IDTokenHint? {
        guard let jwt = try await verified(text), jwt.header["typ"]?.string == IDToken.type,
            let issuer = try? jwt.issuer, issuer == self.issuer, let expiresAt = try? jwt.expiresAt,
            jwt.claims["events"] == nil, let subject = try? jwt.subject, let audience = try? jwt.audience,
            let name = audience.first, audience.count == 1, let client = try await clients.findLive(Client.ID(name))
        else { return nil }
        return IDTokenHint(
            client: client, subject: subject, session: jwt.claims["sid"]?.string,
            nonce: jwt.claims["nonce"]?.string, expiresAt: expiresAt, names: names)
    }

    private func verified(_ text: String) async throws -> VerifiedJWT? {
        guard let id = CompactJWS.keyID(of: text), let key = try await ring.key(id),
            let algorithm = SignatureAlgorithm(rawValue: key.algorithm.rawValue)
        else { return nil }
        return try? await AssertionKeys(key.publicKey).verify(text, allowed: [algorithm])
    }
}
