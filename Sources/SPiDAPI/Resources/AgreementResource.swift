public import Authentication
public import Directory
import HTTP
import JSON
public import OAuth
import SPiD
public import Values

/// `terms`, `user/{id}/agreements` and `…/accept`: the terms of users, and whether they have accepted them.
public struct AgreementResource: SPiDResource {
    private let agreements: Agreements
    private let clients: Clients
    private let finder: UserFinder
    private let privacy: String?
    private let clock: any WallClock

    public init(
        agreements: Agreements, clients: Clients, connectedUsers: ConnectedUsers, connections: Connections,
        merchants: MerchantNumbers, privacy: String?, clock: any WallClock
    ) {
        self.privacy = privacy
        self.agreements = agreements
        self.clients = clients
        finder = UserFinder(connectedUsers: connectedUsers, connections: connections, merchants: merchants)
        self.clock = clock
    }

    public var routes: [SPiDRoute] {
        [
            SPiDRoute(
                .get, "terms", name: "Platform terms", controller: "Platform.terms", token: .optional,
                optional: ["clientId", "client_id"], answer: terms),
            SPiDRoute(
                .get, "user/{id}/agreements", name: "User agreements", controller: "User.agreements", token: .either,
                answer: list),
            SPiDRoute(
                .post, "user/{id}/agreements/accept", name: "Accept agreements",
                controller: "User.accept_agreements", token: .either, answer: accept),
        ]
    }

    /// SPiD has the text of the terms here; Spindle has their URL.
    @Sendable private func terms(_ call: SPiDCall) async throws -> SPiDAnswer {
        let client = try await named(call)
        let terms = client.map(\.terms) ?? agreements.platform
        var isAccepted = terms == nil
        // Whether a user has accepted another merchant's terms is not revealed.
        if let caller = call.requestingClient, let user = caller.token.user, client == nil || caller.knows(client) {
            isAccepted = try await agreements.isAccepted(terms, by: user)
        }
        return .element(
            "Terms",
            .members([
                "accepted": .bool(isAccepted), "terms": .string(terms?.uri ?? ""),
                "change_date": .string(terms?.changedAt?.spidDay ?? ""),
                "terms_url": .string(client?.termsURI ?? ""),
                "privacy_url": .string(client?.openID.address("policy_uri") ?? ""),
                "platform_terms_url": .string(agreements.platform?.uri ?? ""),
                "platform_privacy_url": .string(privacy ?? ""),
                "summary": .array((client?.spid.termsSummary ?? []).map { .string($0) }),
            ]))
    }

    /// The client whose terms are asked for; nil for the platform's.
    private func named(_ call: SPiDCall) async throws -> Client? {
        guard let id = call["clientId"] ?? call["client_id"] else { return nil }
        guard let client = try await clients.findLive(Client.ID(id)) else { throw SPiDRefusal.unknownClient }
        return client
    }

    /// The user of `{id}`, if the caller may ask about them.
    private func user(of call: SPiDCall) async throws -> UserID {
        let caller = try call.caller
        let wanted = try await finder.user(named: call.path["id"] ?? "", for: caller)
        _ = try await finder.find(wanted, for: caller)
        return wanted
    }

    @Sendable private func list(_ call: SPiDCall) async throws -> SPiDAnswer {
        let user = try await user(of: call)
        let platform = try await agreements.isAccepted(agreements.platform, by: user)
        let client = try await agreements.isAccepted(try call.caller.contextClient.terms, by: user)
        return .element(
            "Agreements",
            .members(["agreements": .members(["platform": .bool(platform), "client": .bool(client)])]))
    }

    @Sendable private func accept(_ call: SPiDCall) async throws -> SPiDAnswer {
        // The call also accepts the platform's terms in the user's name.
        let caller = try call.caller
        try caller.requireFirstParty()
        let user = try await user(of: call)
        try await agreements.accept(
            agreements.terms(for: caller.contextClient), by: user, at: clock.now,
            through: caller.writing(of: user, orSister: true))
        return .element("Agreements", .members(["result": true]))
    }
}
