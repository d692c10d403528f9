import JSON
import TestSupport

/// A client that registered itself, with the response it got.
struct Registered: Sendable {
    let answer: Answer
    let world: World

    var id: String { answer.json["client_id"]?.string ?? "" }
    var token: String { answer.json["registration_access_token"]?.string ?? "" }
    var path: String { "/oauth/register/\(id)" }
    var actor: World.Actor {
        World.Actor(
            id: id, secret: answer.json["client_secret"]?.string ?? "",
            redirectURI: answer.json["redirect_uris"]?.strings?.first ?? "")
    }

    /// The registered members with `changes` over them: the body of an update as RFC 7592 §2.2 requires.
    func update(_ changes: KeyValuePairs<String, JSON> = [:]) -> JSON {
        let told = [
            "registration_access_token", "registration_client_uri", "client_secret_expires_at", "client_id_issued_at",
        ]
        let changed = Set(changes.map(\.key) + told)
        let kept = (answer.json.members ?? []).filter { !changed.contains($0.name) }
        return .object(kept + changes.filter { $0.value != .null }.map { .init($0.key, $0.value) })
    }

    func send(_ method: String, _ json: JSON? = nil, token: String? = nil) async throws -> Answer {
        guard let json else { return try await world.server.send(method, path, bearer: token ?? self.token) }
        return try await world.server.send(method, path, json: json, bearer: token ?? self.token)
    }
}

extension World {
    static let returnURI = "https://rp.example/back"

    func initialToken(of merchant: String? = nil, expiresIn: JSON = .null) async throws -> String {
        try await Self.make(
            server, admin, "initial-access-tokens",
            ["merchant_id": .string(merchant ?? self.merchant), "expires_in": expiresIn]
        ).require("initial_access_token")
    }

    /// Sends a registration with `changes` over the minimal one.
    func sendRegistration(_ changes: KeyValuePairs<String, JSON> = [:], with token: String) async throws -> Answer {
        let least: [JSON.Member] = [.init("redirect_uris", [.string(Self.returnURI)])]
        let changed = Set(changes.map(\.key))
        let members = least.filter { !changed.contains($0.name) } + changes.map { .init($0.key, $0.value) }
        return try await server.send(
            "POST", "/oauth/register", json: .object(members.filter { $0.value != .null }), bearer: token)
    }

    func register(_ changes: KeyValuePairs<String, JSON> = [:]) async throws -> Registered {
        let answer = try await sendRegistration(changes, with: try await initialToken())
        _ = try answer.require("client_id")
        return Registered(answer: answer, world: self)
    }

    /// Signs Ada in for `client`, allows everything it asks for, and comes back.
    func consented(
        in browser: inout Browser, _ changes: KeyValuePairs<String, String> = [:], for client: Actor
    ) async throws -> Answer {
        let page = try await authorize(in: &browser, changes, for: client)
        guard page.status == 200, page.isPage else { return page }
        return try await allow(page, in: &browser, ticking: page.boxes)
    }

    /// A code of the first sign-in at a registered client.
    func registeredCode(_ client: Actor, scope: String = "openid") async throws -> String {
        var browser = Browser(server)
        return try await consented(in: &browser, ["scope": scope], for: client).requireRedirected("code")
    }

    /// The token response of a sign-in at a registered client.
    func signInToRegistered(
        _ client: Actor, _ changes: KeyValuePairs<String, String> = [:]
    ) async throws -> Answer {
        var browser = Browser(server)
        let code = try await consented(in: &browser, changes, for: client).requireRedirected("code")
        return try await redeemAuthorization(code, as: client)
    }
}

extension SigningClient {
    /// Redeems a code that `client`, which is this client, requested.
    func redeem(_ code: String, _ client: World.Actor, _ assertion: String? = nil) async throws -> Answer {
        try await ask(
            assertion,
            [
                "grant_type": "authorization_code", "code": code, "redirect_uri": client.redirectURI,
                "code_verifier": verifier,
            ])
    }
}
