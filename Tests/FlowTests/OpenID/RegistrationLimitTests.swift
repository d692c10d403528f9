import JSON
import TestSupport
import Testing

@Suite("What an administrator chooses for a client that registered itself")
struct RegistrationLimitTests {
    @Test(
        "An administrator's null for scope or grant_types sets no limit: the client may still widen them",
        arguments: Backend.available)
    func null(backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await world.clientToken(
                try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
                scope: "admin:merchant")
            let cases: [(token: String, change: JSON)] = [
                (own, ["scope": .null]), (world.admin, ["scope": .null, "grant_types": .null]),
            ]
            for (token, change) in cases {
                let made = try await world.register(["scope": "openid", "grant_types": ["authorization_code"]])
                let changed = try await world.server.send(
                    "PATCH", "/admin/v1/clients/\(made.id)", json: change, bearer: token)
                #expect(changed.status == 200, "\(changed)")
                let wider = try await made.send(
                    "PUT",
                    made.update(["scope": "openid email", "grant_types": ["authorization_code", "refresh_token"]]))
                #expect(wider.status == 200 && wider.json["scope"] == "openid email", "\(wider)")
            }
        }
    }
}
