import JOSE
import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("The claim legacy_user_id: the number by which clients of SPiD know a user") struct LegacyUserIDTests {
    private static let paths = ["/oauth/userinfo", "/userinfo"]

    @Test(
        "A SPiD-compatible client gets legacy_user_id, a text, in ID tokens and userinfo", arguments: Backend.available)
    func compatible(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let number: JSON = .string(world.user)
            // Without a claim of the scope in the ID token, and with all of them.
            for carries in [false, true] {
                let loom = try await world.relyingClient([
                    "spid_compatible": true, "id_token_scope_claims": .bool(carries),
                    "scope": "openid profile email offline_access",
                ])
                let answer = try await world.signIn(scope: "openid profile offline_access", with: loom)
                #expect(try await world.idToken(in: answer)["legacy_user_id"] == number)
                let refreshed = try await world.refresh(try answer.require("refresh_token"), as: loom)
                #expect(try await world.idToken(in: refreshed)["legacy_user_id"] == number)
                let token = try answer.require("access_token")
                for path in Self.paths {
                    #expect(try await world.server.get(path, bearer: token).json["legacy_user_id"] == number)
                    #expect(
                        try await world.server.send("POST", path, bearer: token).json["legacy_user_id"] == number)
                }
                try #require(
                    try await world.change("clients", loom.id, ["userinfo_signed_response_alg": "RS256"]).status == 200)
                let signed = try await world.server.get("/userinfo", bearer: token)
                #expect(try await world.published(signed.body).claims["legacy_user_id"] == number)
            }
        }
    }

    @Test(
        "No other client gets legacy_user_id, and a SPiD-compatible one cannot be pairwise",
        arguments: Backend.available)
    func others(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let plain = try await world.relyingClient()
            let pairwise = try await world.confidential(["subject_type": "pairwise", "scope": "openid profile"])
            #expect(try await world.change("clients", pairwise.id, ["spid_compatible": true]).status == 400)
            for client in [plain, pairwise] {
                let answer = try await world.signIn(scope: "openid profile", with: client)
                #expect(try await world.idToken(in: answer)["legacy_user_id"] == nil)
                let info = try await world.server.get("/userinfo", bearer: try answer.require("access_token"))
                #expect(info.status == 200 && info.json["legacy_user_id"] == nil)
            }
            // No attribute may stand for it.
            let refused = try await world.change(
                "clients", plain.id, ["id_token_claims": ["legacy_user_id": "number"]])
            expectProblem(refused, 400, member: "id_token_claims")
            // One that a client set before the name was reserved does not make the client unreadable.
            let document = try await world.server.database.write { db in
                let row = try #require(try db.rows("SELECT openid FROM clients WHERE id = \(plain.id)").first)
                let stored = try JSON(stored: try row.get("openid", as: String.self))
                let members = (stored.members ?? []).filter { $0.name != "id_token_claims" }
                let changed = JSON.object(members + [.init("id_token_claims", ["legacy_user_id": "n", "roles": "r"])])
                try db.execute("UPDATE clients SET openid = \(changed.text) WHERE id = \(plain.id)")
                return stored
            }
            let shown = try await world.server.get("/admin/v1/clients/\(plain.id)", bearer: world.admin)
            #expect(shown.status == 200 && shown.json["id_token_claims"] == ["roles": "r"], "\(document)")
        }
    }
}
