public import Cryptography
public import Directory
import JSON
public import OAuth
public import Values

/// A logout token (Back-Channel Logout §2.4), before it is signed.
struct LogoutToken: Sendable {
    let issuer: String
    let subject: String
    let client: Client.ID
    /// Always set, whether or not the client requires it: without it, the token would mean every session of the user.
    let session: String
    let issuedAt: Timestamp
    let id: String

    static let type = "logout+jwt"
    private static let event = "http://schemas.openid.net/event/backchannel-logout"
    /// §2.4 recommends two minutes at most. The token is signed when it is sent.
    private static let lifetime: Duration = .minutes(2)

    func signed(by signer: IDTokenSigner) -> String { signer.sign(json, type: Self.type) }

    /// Never with a nonce, so that it cannot be mistaken for an ID token.
    private var json: JSON {
        .members([
            "iss": .string(issuer), "sub": .string(subject), "aud": .string(client.text),
            "iat": .integer(issuedAt.seconds), "exp": .integer((issuedAt + Self.lifetime).seconds),
            "jti": .string(id), "events": .object([.init(Self.event, .object([]))]), "sid": .string(session),
        ])
    }
}

/// Makes the logout tokens for clients, when they are sent (Back-Channel Logout §2.5).
public struct LogoutTokens: Sendable {
    /// One request to a client.
    public struct Message: Sendable {
        public let uri: String
        public let form: String
        public static let contentType = "application/x-www-form-urlencoded"
    }

    /// Why there is no message yet: the client, or its merchant, is disabled.
    public struct ClientIsDisabled: Error {}

    private let issuer: String
    private let signers: IDTokenSigners
    private let names: SubjectIdentifiers
    private let clients: Clients
    private let clock: any WallClock
    private let random: any RandomSource

    public init(
        issuer: String, signers: IDTokenSigners, names: SubjectIdentifiers, clients: Clients, clock: any WallClock,
        random: any RandomSource
    ) {
        self.issuer = issuer
        self.signers = signers
        self.names = names
        self.clients = clients
        self.clock = clock
        self.random = random
    }

    /// The request for `notice`, made now; nil when its client is deleted, or no longer wants notices. Throws
    /// `ClientIsDisabled` while the client is.
    public func message(for notice: LogoutNotice) async throws -> Message? {
        guard let client = try await clients.find(notice.client), let uri = client.openID.backChannelLogoutURI else {
            return nil
        }
        guard try await clients.findLive(client.id) != nil else { throw ClientIsDisabled() }
        let signer = try await signers.current(for: client)
        let token = LogoutToken(
            issuer: issuer, subject: try await names.subject(of: notice, for: client), client: client.id,
            session: try await names.session(notice.session, for: client),
            issuedAt: clock.now, id: Base64URL.encode(random.bytes(16)))
        // A compact JWT has only characters that need no form encoding.
        return Message(uri: uri, form: "logout_token=" + token.signed(by: signer))
    }
}
