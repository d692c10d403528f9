import JSON
import TestSupport
import Testing

@Suite("Attributes and addresses of users, which administration sets")
struct AttributeTests {
    @Test("An administrator can set, change and remove a user's attributes one by one", arguments: Backend.available)
    func life(backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await World.make(
                world.server, world.admin, "users",
                ["email": "grace@example.com", "attributes": ["roles": ["admiral"], "ship": "Constitution"]])
            #expect(made.status == 201)
            let both: JSON = ["roles": ["admiral"], "ship": "Constitution"]
            #expect(made.json["attributes"] == both)
            let id = try made.require("user_id")
            let changes: [(JSON, JSON)] = [
                (["name": "Grace"], both),
                (["attributes": ["ship": .null, "rank": "1"]], ["roles": ["admiral"], "rank": "1"]),
                (["attributes": ["roles": .array([])]], ["rank": "1", "roles": .array([])]),
                (["attributes": .object([])], ["rank": "1", "roles": .array([])]), (["attributes": .null], .object([])),
            ]
            for (change, expected) in changes {
                #expect(try await world.change("users", id, change).json["attributes"] == expected)
                #expect(try await world.user(id)["attributes"] == expected)
            }
            #expect(try await world.user()["attributes"] == .object([]))
        }
    }

    @Test("A user's attribute is a text or a list of texts, limited in length and number", arguments: Backend.available)
    func bounds(backend: Backend) async throws {
        try await World.with(backend) { world in
            let many = (1...51).map { JSON.Member("a\($0)", "x") }
            let wrong: [JSON] = [
                "x", ["x"], 7, true, ["a": 7], ["a": true], ["a": ["b": "c"]], ["a": ["b", 7]], ["": "x"],
                ["a": "line\nbreak"], ["a\u{0}": "x"], ["a": .string(String(repeating: "x", count: 501))],
                .object([.init(String(repeating: "a", count: 101), "x")]), .object(many),
                ["a": .array(Array(repeating: "x", count: 201))],
            ]
            for attributes in wrong {
                expectProblem(
                    try await world.change("users", world.user, ["attributes": attributes]), 400,
                    member: "attributes")
            }
            let full = try await world.change("users", world.user, ["attributes": .object(Array(many.prefix(50)))])
            #expect(full.json["attributes"]?.members?.count == 50)
            expectProblem(
                try await world.change("users", world.user, ["attributes": ["b": "x"]]), 400, member: "attributes")
            let swapped = try await world.change("users", world.user, ["attributes": ["b": "x", "a1": .null]])
            #expect(swapped.json["attributes"]?.members?.count == 50)
        }
    }

    @Test(
        "All attributes of a user together have 64 KiB at most, however many changes made them",
        arguments: Backend.available)
    func whole(backend: Backend) async throws {
        try await World.with(backend) { world in
            let list = JSON.array((0..<80).map { _ in .string(String(repeating: "x", count: 500)) })
            func set(_ name: String) async throws -> Answer {
                try await world.change("users", world.user, ["attributes": .object([.init(name, list)])])
            }
            #expect(try await set("a").status == 200)
            expectProblem(try await set("b"), 400, member: "attributes")
            #expect(try await set("a").status == 200)
        }
    }

    @Test(
        "Only the platform, not a merchant, sets users' attributes, and users see them in their data",
        arguments: Backend.available)
    func whose(backend: Backend) async throws {
        try await World.with(backend) { world in
            let administrator = try await world.confidential(["scope": "admin:merchant"])
            let token = try await world.clientToken(administrator, scope: "admin:merchant")
            let document: JSON = ["email": "grace@example.com", "attributes": ["roles": "admiral"]]
            expectProblem(
                try await World.make(world.server, token, "users", document), 403, member: "attributes")
            _ = try await world.signIn()
            for attributes: JSON in [["roles": "admiral"], .null] {
                let refused = try await world.server.send(
                    "PATCH", "/admin/v1/users/\(world.user)", json: ["attributes": attributes], bearer: token)
                expectProblem(refused, 403, member: "attributes")
            }
            try await world.change("users", world.user, ["attributes": ["roles": ["author"]]])
            var visitor = try await world.signedIn()
            let data = try await visitor.browser.open("/account/data")
            #expect(data.json["attributes"]?["roles"]?.strings == ["author"])
            #expect(try await world.server.get("/me", bearer: world.admin).json["attributes"] == nil)
        }
    }

    @Test("A user's postal address is a JSON object of known parts, and null removes it", arguments: Backend.available)
    func address(backend: Backend) async throws {
        try await World.with(backend) { world in
            let wrong: [JSON] = [
                "London", [], .object([]), ["city": "London"], ["country": 44], ["country": ""],
                ["country": "United\nKingdom"], ["formatted": "a\u{7}b"],
                ["formatted": .string(String(repeating: "x", count: 501))],
            ]
            for address in wrong {
                expectProblem(
                    try await world.change("users", world.user, ["address": address]), 400, member: "address")
            }
            let address: JSON = [
                "formatted": "12 St James's Sq\r\nLondon", "street_address": "12 St James's Sq", "locality": "London",
                "region": "Greater London", "postal_code": "SW1Y 4LB", "country": "United Kingdom",
            ]
            #expect(try await world.change("users", world.user, ["address": address]).json["address"] == address)
            #expect(try await world.user()["address"] == address)
            let gone = try await world.change("users", world.user, ["address": .null, "nickname": .null])
            #expect(gone.json["address"] == nil)
            #expect(gone.json["name"]?.string == "Ada Lovelace")
        }
    }

    @Test(
        "A client that becomes a third party's loses its id_token_claims unless the same change names them",
        arguments: Backend.available, [false, true])
    func thirdParty(backend: Backend, isNamed: Bool) async throws {
        try await World.with(backend) { world in
            let administrator = try await world.clientToken(
                try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
                scope: "admin:merchant")
            let path = "/admin/v1/clients/\(world.app.id)"
            let claims: JSON = ["roles": "groups"]
            let given = try await world.server.send(
                "PATCH", path, json: ["id_token_claims": claims], bearer: administrator)
            #expect(given.status == 200 && given.json["id_token_claims"] == claims, "\(given)")
            // Another change leaves the claims.
            let renamed = try await world.change("clients", world.app.id, ["client_name": "Loom"])
            #expect(renamed.json["id_token_claims"] == claims, "\(renamed)")
            let document: JSON =
                isNamed ? ["first_party": false, "id_token_claims": claims] : ["first_party": false]
            let changed = try await world.change("clients", world.app.id, document)
            #expect(changed.status == 200 && changed.json["first_party"] == false, "\(changed)")
            let shown = try await world.server.get(path, bearer: world.admin)
            let expected: JSON? = isNamed ? claims : nil
            #expect(shown.json["first_party"] == false && shown.json["id_token_claims"] == expected, "\(shown)")
        }
    }
}
