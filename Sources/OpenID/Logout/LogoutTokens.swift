public import Cryptography
public import Directory
import JSON
public import OAuth
public import Values

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
