public import Authentication
public import Directory
import HTTP
public import HTTPSupport
import JSON
public import OAuth
public import OpenID
import SPiD
public import Values

/// What pages of a client may know about the session of their browser, in SPiD's format.
public struct SessionReports: Sendable {
    private let site: Site
    private let knownUsers: KnownUsers
    private let users: Users
    private let names: SubjectIdentifiers
    private let agreements: Agreements
    private let signSecrets: SignSecrets
    private let clock: any WallClock

    public init(
        site: Site, knownUsers: KnownUsers, users: Users, names: SubjectIdentifiers, agreements: Agreements,
        signSecrets: SignSecrets, clock: any WallClock
    ) {
        self.site = site
        self.knownUsers = knownUsers
        self.users = users
        self.names = names
        self.agreements = agreements
        self.signSecrets = signSecrets
        self.clock = clock
    }

    /// Who is signed in, as far as a client may know.
    enum Report {
        case signedOut
        /// A user who is not connected to the client. The session ends after this time.
        case notConnected(Duration)
        case user(User)
    }

    /// A user of the client.
    struct User {
        let id: UserID
        /// The members that say who it is.
        let members: [JSON.Member]
        /// Whether the user agreed to all terms.
        let hasAgreed: Bool
        /// How long an answer may be kept.
        let lifetime: Duration

        subscript(name: String) -> JSON? { members.first { $0.name == name }?.value }
    }

    /// How long a page's script may keep an answer that the user changes by signing in or agreeing.
    static let shortMemory: Duration = .seconds(300)

    func report(_ request: Request, _ client: Client) async throws -> Report {
        switch try await knownUsers.user(request, of: client) {
        case .signedOut: .signedOut
        case .notConnected(let session): .notConnected(min(left(of: session), Self.shortMemory))
        case .connected(let session, let scope):
            .user(try await user(session.user, client, scope, left(of: session)))
        }
    }

    /// A remembered session lives for a year, and could end long before the answer that the page's script keeps.
    private func left(of session: Session) -> Duration {
        let now = clock.now
        return min(session.expiry(usedAt: now) - now, Session.idleLifetime)
    }

    /// The members of every answer, even without a user.
    /// - Parameter time: how long the answer may be kept, where it says so.
    func common(for time: Duration? = nil) -> [JSON.Member] {
        let base = site.origin.split(separator: "/").last?.split(separator: ":").first.map(String.init)
        let json: JSON = .members([
            "serverTime": .integer(clock.now.seconds), "expiresIn": time.map { .integer($0.seconds) },
            "baseDomain": base.map { .string($0) },
        ])
        return json.members ?? []
    }

    /// The user, for a client that they are connected to. Names need a first-party client or the scope.
    private func user(
        _ id: UserID, _ client: Client, _ scope: Scope, _ left: Duration
    ) async throws -> User {
        let mayName = client.may(.seeUsersUnasked) || scope.contains("profile")
        let user = try await users.find(id)
        let profile = mayName ? user?.profile : nil
        let name = mayName ? user?.displayedName ?? "" : ""
        let hasNumber = !client.openID.isPairwise
        let isPlatformAgreed = try await agreements.isAccepted(agreements.platform, by: id)
        let isClientAgreed = try await agreements.isAccepted(client.terms, by: id)
        let hasAgreed = isPlatformAgreed && isClientAgreed
        let json: JSON = .members([
            "userId": hasNumber ? .integer(id.number) : nil,
            "id": .string(try await names.subject(id, for: client)),
            "uuid": hasNumber ? user.map { .string($0.uuid) } : nil,
            "displayName": name.isEmpty ? nil : .string(name),
            "givenName": profile?["given_name"], "familyName": profile?["family_name"], "gender": profile?["gender"],
            "photo": profile?["picture"],
            "sp_id": try client.may(.useSPiDScripts) && hasNumber
                ? user.map { .string(try signSecrets.paywallID(of: $0, for: client, at: clock.now)) } : nil,
            "defaultAgreementAccepted": .bool(isPlatformAgreed), "clientAgreementAccepted": .bool(isClientAgreed),
        ])
        return User(
            id: id, members: json.members ?? [], hasAgreed: hasAgreed,
            lifetime: hasAgreed ? left : min(left, Self.shortMemory))
    }

    /// Adds the same data signed by the client's secret, for its backend, because a page can claim anything.
    func signed(_ members: [JSON.Member], for client: Client) throws -> JSON {
        guard client.may(.useSPiDScripts) else { return .object(members) }
        let payload = [JSON.Member("algorithm", "HMAC-SHA256")] + members
        let request = try signSecrets.open(client).signed(.object(payload)).request
        return .object(members + [JSON.Member("sig", .string(request))])
    }
}
