import Cryptography
import JSON
import TestSupport
import Testing
import Values

@Suite("Limits on fetches from clients' servers that unauthenticated requests cause")
struct ClientFetchTests {
    private static let settings = ["outbound_allow_private": "127.0.0.0/8"]

    @Test(
        "Spindle fetches a client's request_uri sixty times in a burst, then once every two seconds",
        arguments: Backend.available)
    func requestObject(backend: Backend) async throws {
        let host = try KeyHost(.null)
        try await World.with(backend, settings: Self.settings) { world in
            let signer = try await RequestSigner(world, ["request_uris": [.string(host.address)]])
            let another = try await RequestSigner(world, ["request_uris": [.string(host.address)]])
            for _ in 1...60 { #expect(try await error(signer, host) == nil) }
            for _ in 1...20 { #expect(try await error(signer, host) == "invalid_request_uri") }
            #expect(host.questions == 60)
            #expect(world.server.log.says("too many questions of late"))
            #expect(try await error(another, host) == nil, "another client is not concerned")
            world.server.clock.advance(by: .seconds(2))
            #expect(try await error(signer, host) == nil)
        }
    }

    private func error(_ signer: RequestSigner, _ host: KeyHost) async throws -> String? {
        host.publish(text: signer.object())
        return try await signer.party.world.server.get(signer.party.address(["request_uri": host.address]))
            .redirected("error")
    }

    @Test(
        "Client assertions with unknown key ids cause at most one further fetch of the client's key set",
        arguments: Backend.available)
    func keys(backend: Backend) async throws {
        let key = PrivateKey.generate(.es256)
        let host = try KeyHost(SigningClient.keySet(key))
        try await World.with(backend, settings: Self.settings) { world in
            let client = try await world.confidential([
                "token_endpoint_auth_method": "private_key_jwt", "jwks_uri": .string(host.address),
            ])
            let stranger = SigningClient(world: world, id: client.id, key: .own(.generate(.es256)))
            for _ in 1...40 { try await expect(401, "invalid_client", try await stranger.ask()) }
            #expect(host.questions <= 2, "once for it, and once more for the key")
            let own = SigningClient(world: world, id: client.id, key: .own(key))
            #expect(try await own.ask().status == 200)
        }
    }

    @Test(
        "At most thirty updates of a registration at once fetch its sector_identifier_uri; more are refused",
        arguments: Backend.available)
    func sector(backend: Backend) async throws {
        let host = try KeyHost(["https://rp.example/back"])
        try await World.with(backend, settings: Self.settings) { world in
            let sectored: KeyValuePairs<String, JSON> = [
                "subject_type": "pairwise", "sector_identifier_uri": .string(host.address),
            ]
            let made = try await world.register(sectored)
            for _ in 1...30 { #expect(try await made.send("PUT", made.update()).status == 200) }
            for _ in 1...5 {
                try await expect(400, "invalid_client_metadata", try await made.send("PUT", made.update()))
            }
            #expect(host.questions == 31)
            _ = try await world.register(sectored)
            world.server.clock.advance(by: .seconds(10))
            #expect(try await made.send("PUT", made.update()).status == 200)
        }
    }
}
