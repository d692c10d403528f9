import Cryptography
import Foundation
import JSON
import TestSupport
import Testing

/// A webhook of Loom, and the requests that Ditto sends to it.
struct DittoStory: Sendable {
    static let app = "fe60a4fb-95b3-488e-9a98-5e58d2b7b6e2"
    static let provider = "my-auth"
    static let permissions: JSON = [
        "read": [
            "everything": false, "queriesByCollection": ["cars": ["_id.owner == '{{sub}}'", "_id.sold == true"]],
        ],
        "write": ["everything": false, "queriesByCollection": ["cars": ["_id.owner == '{{sub}}'"]]],
        "remoteQuery": false,
    ]

    let world: World
    let id: String
    let name: String

    /// Creates a webhook with `changes` over the usual members.
    static func make(
        _ world: World, _ changes: KeyValuePairs<String, JSON> = [:], as administrator: String? = nil
    ) async throws -> Answer {
        let usual: [JSON.Member] = [
            .init("merchant_id", .string(world.merchant)), .init("name", "loom-cars"),
            .init("permissions", permissions),
        ]
        let changed = Set(changes.map(\.key))
        return try await World.make(
            world.server, administrator ?? world.admin, "webhooks",
            .object(usual.filter { !changed.contains($0.name) } + changes.map { JSON.Member($0.key, $0.value) }))
    }

    init(_ world: World, _ changes: KeyValuePairs<String, JSON> = [:]) async throws {
        let made = try await Self.make(world, changes)
        self.world = world
        id = try made.require("id")
        name = try made.require("name")
    }

    /// The body that Ditto sends, with `changes` over the members of its first form; one changed to null is left out.
    static func body(_ token: String, _ changes: KeyValuePairs<String, JSON> = [:]) -> String {
        let usual: [JSON.Member] = [
            .init("appID", .string(app)), .init("provider", .string(provider)), .init("token", .string(token)),
        ]
        let changed = Set(changes.map(\.key))
        let members = usual.filter { !changed.contains($0.name) } + changes.map { JSON.Member($0.key, $0.value) }
        return JSON.object(members.filter { $0.value != .null }).text
    }

    func ask(
        _ token: String, _ changes: KeyValuePairs<String, JSON> = [:], signature: String? = nil
    ) async throws -> Answer {
        try await send(Self.body(token, changes), signature: signature)
    }

    func send(_ body: String, signature: String? = nil) async throws -> Answer {
        var headers = ["Content-Type": "application/json"]
        headers["ditto-signature"] = signature
        return try await world.server.send(
            "POST", "/webhooks/ditto/\(name)", body: Array(body.utf8), headers: headers)
    }

    @discardableResult
    func change(_ json: JSON) async throws -> Answer { try await world.change("webhooks", id, json) }

    /// Sets Ada's attributes through administration.
    func describe(_ attributes: JSON) async throws {
        try #require(try await world.change("users", world.user, ["attributes": attributes]).status == 200)
    }

    /// An access token for Ada on her phone.
    func token(scope: String = "profile", with client: World.Actor? = nil) async throws -> String {
        try await world.signIn(scope: scope, with: client).require("access_token")
    }
}

/// Checks every member and type of a response that admits a user.
func expectAdmitted(
    _ answer: Answer, as subject: String, for seconds: Int64? = nil, sourceLocation: SourceLocation = #_sourceLocation
) {
    func check(_ holds: Bool, _ what: String) {
        #expect(holds, "\(what): \(answer)", sourceLocation: sourceLocation)
    }
    let json = answer.json
    check(answer.status == 200, "status")
    check(answer.header("content-type") == "application/json", "type")
    check(answer.header("cache-control") == "no-store", "cache")
    check(json["authenticated"] == true && json["authenticate"] == true, "both names")
    check(json["userID"] == .string(subject), "userID")
    check(
        (json["expirationSeconds"]?.integer).map { (1...Int64(UInt32.max)).contains($0) } ?? false, "expirationSeconds")
    if let seconds { check(json["expirationSeconds"]?.integer == seconds, "\(seconds) seconds") }
    for half in ["read", "write"] {
        let access = json["permissions"]?[half]
        check(access?["everything"]?.bool != nil, "\(half).everything")
        let collections = access?["queriesByCollection"]?.members
        check(collections?.allSatisfy { $0.value.strings != nil } ?? false, "\(half).queriesByCollection")
    }
    check((json["permissions"]?["remoteQuery"]).map { $0.bool != nil } ?? true, "remoteQuery")
    check(json["clientInfo"] == json["userInfo"], "both names of clientInfo")
    check((json["identityServiceMetadata"]).map { $0.members != nil } ?? true, "identityServiceMetadata")
    let known = [
        "authenticated", "authenticate", "userID", "expirationSeconds", "permissions", "clientInfo", "userInfo",
        "identityServiceMetadata",
    ]
    check(json.members?.allSatisfy { known.contains($0.name) } ?? false, "no other members")
}

/// Checks every member of a response that refuses a user.
func expectRefused(
    _ answer: Answer, _ error: String = "invalid_token", status: Int = 200,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(answer.status == status, "\(answer)", sourceLocation: sourceLocation)
    let info = answer.json["clientInfo"]
    #expect(info?["error"]?.string == error, "\(answer)", sourceLocation: sourceLocation)
    #expect(info?["error_description"]?.string?.isEmpty == false, sourceLocation: sourceLocation)
    let expected: JSON = [
        "authenticated": false, "authenticate": false, "clientInfo": info ?? .null, "userInfo": info ?? .null,
    ]
    #expect(answer.json == expected, "\(answer)", sourceLocation: sourceLocation)
    #expect((status == 401) == (answer.header("www-authenticate") != nil), sourceLocation: sourceLocation)
}
