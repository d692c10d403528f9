import JSON
import TestSupport
import Testing

@Suite("A client that registered itself does not learn the subjects of another one's sector by its public document")
struct RegisteredSectorTests {
    private static let settings = ["outbound_allow_private": "127.0.0.0/8"]
    private static let victim: JSON = "https://victim.example/cb"

    @Test(
        "A client cannot move into another's sector by naming that sector's document",
        arguments: Backend.available, ["pairwise", "public"])
    func moved(backend: Backend, type: String) async throws {
        let host = try KeyHost([Self.victim])
        try await World.with(backend, settings: Self.settings) { world in
            let thief = try await world.register([
                "redirect_uris": ["https://thief.example/cb"], "subject_type": .string(type),
            ])
            let token = try await world.signInToRegistered(thief.actor, ["scope": "openid"]).require("access_token")
            let before = try await subject(token, world)
            let moved = try await thief.send("PUT", thief.update(sectored(host, [Self.victim])))
            try await expect(400, "invalid_client_metadata", moved)
            #expect(try await subject(token, world) == before)
        }
    }

    @Test(
        "The backchannel_logout_uri of a client with a sector document must be at its redirect URI's host",
        arguments: Backend.available)
    func logout(backend: Backend) async throws {
        let host = try KeyHost([Self.victim, "https://sister.example/cb"])
        try await World.with(backend, settings: Self.settings) { world in
            for (name, status) in [("thief.example", 400), ("victim.example", 201)] {
                let address = JSON.string("https://\(name)/bye")
                let members = sectored(host, [Self.victim], logout: address)
                let answer = try await world.sendRegistration(members, with: try await world.initialToken())
                #expect(answer.status == status, "\(answer)")
                #expect(answer.body.contains("backchannel_logout_uri"))
            }
            let made = try await world.register(sectored(host, [Self.victim]))
            for (name, status) in [("thief.example", 400), ("victim.example", 200)] {
                let address = JSON.string("https://\(name)/bye")
                let changed = try await made.send("PUT", made.update(["backchannel_logout_uri": address]))
                #expect(changed.status == status, "\(changed)")
            }
            let sister = sectored(host, ["https://sister.example/cb"], logout: "https://sister.example/bye")
            let within = try await made.send("PUT", made.update(sister))
            #expect(within.status == 200, "the document lists it: \(within)")
        }
    }

    @Test(
        "A loopback address or custom scheme that a sector document lists admits no client to the sector",
        arguments: Backend.available)
    func native(backend: Backend) async throws {
        let addresses: [JSON] = ["http://127.0.0.1/cb", "com.victim.app://signed-in/cb"]
        let host = try KeyHost(.array([Self.victim] + addresses))
        try await World.with(backend, settings: Self.settings) { world in
            for address in addresses {
                let members = sectored(host, [address], application: "native")
                let answer = try await world.sendRegistration(members, with: try await world.initialToken())
                #expect(answer.status == 400, "\(address): \(answer)")
            }
            _ = try await world.register(sectored(host, [Self.victim]))
        }
    }

    /// How the client whose `token` it is knows its user.
    private func subject(_ token: String, _ world: World) async throws -> String {
        try #require(try await world.server.get("/me", bearer: token).json["sub"]?.string)
    }

    private func sectored(
        _ host: KeyHost, _ redirectURIs: [JSON], logout: JSON = .null, application: JSON = "web"
    ) -> KeyValuePairs<String, JSON> {
        [
            "subject_type": "pairwise", "sector_identifier_uri": .string(host.address),
            "redirect_uris": .array(redirectURIs), "backchannel_logout_uri": logout, "application_type": application,
        ]
    }
}
