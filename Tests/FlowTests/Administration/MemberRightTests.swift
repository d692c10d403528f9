import JSON
import TestSupport
import Testing

@Suite("Who may set a member of a document is what its declaration says")
struct MemberRightTests {
    /// A value of each member that a document can have, which differs from what the thing has.
    private static let samples: [String: JSON] = [
        "email_verified": true, "password": "correct horse battery", "phone_number_verified": false,
        "attributes": ["group": "sport"], "disabled": true, "address": ["locality": "Oslo"],
        "picture": "https://ada.example/ada.png", "name": "Another name", "logout_reaches_backends": true,
        "skip_introduction": true, "logo_uri": "https://loom.example/logo.png", "accent_color": "#204080",
        "mail_templates": .null, "user_id": "1234567", "sub": "ada-of-old",
    ]

    /// The members of the schema `name` in the description, each with whether a client with the scope may set it.
    private static func members(
        of name: String, for scope: String, ofMerchant: Bool, in world: World
    ) async throws -> [(name: String, maySet: Bool)] {
        let json = try await world.server.get("/openapi.json").json
        let schema = try #require(json["components"]?["schemas"]?[name]?["properties"]?.members)
        let isAdministrator = scope == "admin:merchant"
        return schema.map { member in
            let scopes = member.value["x-scopes"]?[ofMerchant ? "merchant" : "platform"]?.strings
            return (member.name, scopes.map { $0.contains(scope) } ?? isAdministrator)
        }
    }

    private static func token(_ scope: String, ofMerchant: Bool, in world: World) async throws -> String {
        let merchant: JSON.Member? = ofMerchant ? .init("merchant_id", .string(world.merchant)) : nil
        let client = try await World.client(
            world.server, world.admin,
            .object(
                [
                    .init("client_name", "Steward"), .init("scope", .string(scope)),
                    .init("grant_types", ["client_credentials"]),
                ] + [merchant].compactMap(\.self)))
        return try await world.clientToken(client, scope: scope)
    }

    @Test(
        "Each member of a user is set and changed by the roles that its declaration names, and refused to others",
        arguments: Backend.available)
    func users(backend: Backend) async throws {
        try await World.with(backend) { world in
            let merchants = try await Self.token("admin:merchant", ofMerchant: true, in: world)
            for (number, member) in try await Self.members(
                of: "NewUser", for: "admin:merchant", ofMerchant: true, in: world
            ).enumerated() {
                var document: [JSON.Member] = [.init("email", .string("new\(number)@example.com"))]
                if member.name != "email" { document.append(.init(member.name, Self.samples[member.name] ?? "x")) }
                let answer = try await world.server.send(
                    "POST", "/admin/v1/users", json: .object(document), bearer: merchants)
                #expect((answer.status == 403) == !member.maySet, "POST \(member): \(answer)")
            }
            let support = try await Self.token("admin:support", ofMerchant: false, in: world)
            for (token, scope, isOfMerchant) in [
                (merchants, "admin:merchant", true), (support, "admin:support", false),
            ] {
                for member in try await Self.members(
                    of: "UserChange", for: scope, ofMerchant: isOfMerchant, in: world)
                {
                    let value = member.name == "email" ? "other@example.com" : Self.samples[member.name] ?? "x"
                    let answer = try await world.server.send(
                        "PATCH", "/admin/v1/users/\(world.user)", json: .object([.init(member.name, value)]),
                        bearer: token)
                    #expect((answer.status == 403) == !member.maySet, "PATCH \(scope) \(member): \(answer)")
                }
            }
        }
    }

    @Test("Each member of a merchant is changed by its administrator unless only the platform may")
    func merchants() async throws {
        try await World.with(.sqlite) { world in
            let token = try await Self.token("admin:merchant", ofMerchant: true, in: world)
            let members = try await Self.members(
                of: "MerchantChange", for: "admin:merchant", ofMerchant: true, in: world)
            #expect(members.filter { !$0.maySet }.map(\.name) == ["skip_introduction", "disabled"])
            for member in members {
                let document = JSON.object([.init(member.name, Self.samples[member.name] ?? "x")])
                let answer = try await world.server.send(
                    "PATCH", "/admin/v1/merchants/\(world.merchant)", json: document, bearer: token)
                #expect((answer.status == 403) == !member.maySet, "\(member): \(answer)")
            }
        }
    }
}
