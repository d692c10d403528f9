public import Authentication
public import Directory
import HTTP
public import HTTPSupport
import JSON
public import OAuth
public import OpenID
public import Values

/// `/ajax/hasSession.js`, `/rpc/hasSession.js`: tells a client's web page, by a script, whether there is a session.
public struct HasSessionEndpoint: Endpoint {
    private let site: Site
    private let clients: Clients
    private let sessions: Sessions
    private let users: Users
    private let names: SubjectIdentifiers
    private let apps: ConnectedApps
    private let introductions: Introductions
    private let agreements: Agreements
    private let signSecrets: SignSecrets
    private let clock: any WallClock

    public init(
        site: Site, clients: Clients, sessions: Sessions, users: Users, names: SubjectIdentifiers,
        apps: ConnectedApps, introductions: Introductions, agreements: Agreements, signSecrets: SignSecrets,
        clock: any WallClock
    ) {
        self.site = site
        self.clients = clients
        self.sessions = sessions
        self.users = users
        self.names = names
        self.apps = apps
        self.introductions = introductions
        self.agreements = agreements
        self.signSecrets = signSecrets
        self.clock = clock
    }

    public func add(to router: inout Routes) {
        router.get("/ajax/hasSession.js", use: tell)
        router.get("/rpc/hasSession.js", use: tell)
    }

    @Sendable private func tell(_ request: Request, context: SpindleContext) async throws -> Response {
        try await ScriptCall.answer(request, context, clients: clients) { client in
            ScriptCall.Answer(json: try await answer(request, client))
        }
    }

    private func answer(_ request: Request, _ client: Client) async throws -> JSON {
        let now = clock.now
        let base = site.origin.split(separator: "/").last?.split(separator: ":").first.map(String.init)
        func common(_ visitor: JSON, for time: Duration) -> [JSON.Member] {
            JSON.members([
                "serverTime": .integer(now.seconds), "expiresIn": .integer(time.seconds),
                "baseDomain": base.map { .string($0) }, "visitor": visitor,
            ]).members ?? []
        }
        guard let session = try await sessions.of(request, site), session.kind.isGood(for: client) else {
            return ScriptCall.refusal(
                401, "No session found!", response: common(ScriptCall.visitor(), for: Self.shortMemory))
        }
        let left = session.expiry(usedAt: now) - now
        // A merchant that the user has never met learns nothing about them, even if it connected them by itself.
        let isMet = try await !introductions.isDue(session.user, to: client, in: session.id)
        let scope = isMet ? try await apps.scope(of: client.id, for: session.user) : nil
        guard let scope else {
            return .object(
                [.init("result", false)] + common(ScriptCall.visitor(), for: min(left, Self.shortMemory))
                    + [.init("userStatus", "notConnected")])
        }
        let (person, hasAgreed) = try await person(session.user, client, scope)
        return try signed(
            [.init("result", .bool(hasAgreed))]
                + common(ScriptCall.visitor(person), for: hasAgreed ? left : min(left, Self.shortMemory))
                + [.init("userStatus", "connected")] + (person.members ?? []), for: client)
    }

    /// How long a page's script may keep an answer that the user changes by signing in or agreeing.
    private static let shortMemory: Duration = .seconds(300)

    /// The user, for a client that they are connected to, and whether they agreed to all terms. Names need a first-party
    /// client or the scope.
    private func person(
        _ id: UserID, _ client: Client, _ scope: Scope
    ) async throws -> (person: JSON, hasAgreed: Bool) {
        let mayName = client.firstParty || scope.contains("profile")
        let user = try await users.find(id)
        let profile = mayName ? user?.profile : nil
        let hasNumber = !client.openID.isPairwise
        let isPlatformAgreed = try await agreements.isAccepted(agreements.platform, by: id)
        let isClientAgreed = try await agreements.isAccepted(client.terms, by: id)
        let person: JSON = .members([
            "userId": hasNumber ? .integer(id.number) : nil,
            "id": .string(try await names.subject(id, for: client)),
            "uuid": hasNumber ? user.map { JSON.string($0.uuid) } : nil, "displayName": profile?["name"],
            "givenName": profile?["given_name"], "familyName": profile?["family_name"], "gender": profile?["gender"],
            "photo": profile?["picture"],
            "defaultAgreementAccepted": .bool(isPlatformAgreed), "clientAgreementAccepted": .bool(isClientAgreed),
        ])
        return (person, isPlatformAgreed && isClientAgreed)
    }

    /// Adds the same data in the client's own signature, for its backend: a page can say anything.
    private func signed(_ members: [JSON.Member], for client: Client) throws -> JSON {
        guard client.spidCompatible else { return .object(members) }
        let payload = [JSON.Member("algorithm", "HMAC-SHA256")] + members
        let request = try signSecrets.open(client).signed(.object(payload)).request
        return .object(members + [JSON.Member("sig", .string(request))])
    }
}
