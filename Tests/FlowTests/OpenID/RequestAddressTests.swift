import Cryptography
import JSON
import TestSupport
import Testing
import Values

@Suite("Request objects at the client's address (request_uri)")
struct RequestAddressTests {
    private static let settings = ["outbound_allow_private": "127.0.0.0/8"]

    private func signer(_ world: World, _ host: KeyHost, fragment: String = "") async throws -> RequestSigner {
        try await RequestSigner(world, ["request_uris": [.string(host.address + fragment)]])
    }

    private func error(_ signer: RequestSigner, _ uri: String, _ more: (String, String)? = nil) async throws -> String?
    {
        let address =
            signer.party.address(["request_uri": uri])
            + (more.map { "&\($0.0)=\(TestServer.encode($0.1))" } ?? "")
        return try await signer.party.world.server.get(address).redirected("error")
    }

    @Test("Only a registered request_uri is fetched", arguments: Backend.available)
    func unregistered(backend: Backend) async throws {
        let host = try KeyHost(.null)
        try await World.with(backend, settings: Self.settings) { world in
            let signer = try await signer(world, host)
            host.publish(text: signer.object())
            for uri in [host.address + "2", host.address + "?a=b", "http://127.0.0.1:1/", "file:///etc/passwd", "x"] {
                #expect(try await error(signer, uri) == "invalid_request_uri", "\(uri)")
            }
            let another = try await RequestSigner(world)
            #expect(try await error(another, host.address) == "invalid_request_uri")
            #expect(host.questions == 0)
            #expect(try await error(signer, host.address) == nil)
            #expect(try await error(signer, host.address, ("request", signer.object())) == "invalid_request")
            #expect(host.questions == 1)
        }
    }

    @Test("The fragment of a request_uri is not compared with its content (OpenID Connect Core §6.2)")
    func fragment() async throws {
        let host = try KeyHost(.null)
        try await World.with(.sqlite, settings: Self.settings) { world in
            let signer = try await signer(world, host, fragment: "#registered")
            for fragment in ["", "#registered", "#another", "#" + Base64URL.encode(Digest.sha256([1]))] {
                host.publish(text: signer.object(["state": .string("state\(fragment.count)")]))
                #expect(try await error(signer, host.address + fragment) == nil, "\(fragment)")
            }
            #expect(host.questions == 4, "it is fetched each time")
        }
    }

    @Test("A request_uri whose content is too long, empty or no request object is refused")
    func bad() async throws {
        let host = try KeyHost(.null)
        try await World.with(.sqlite, settings: Self.settings) { world in
            let signer = try await signer(world, host)
            for text in ["", "{}", signer.object(["aud": "elsewhere"]), signer.object(["request_uri": "again"])] {
                host.publish(text: text)
                #expect(try await error(signer, host.address) == "invalid_request_object", "\(text)")
            }
            host.publish(text: String(repeating: "a", count: 20_000))
            #expect(try await error(signer, host.address) == "invalid_request_uri")
        }
    }

    @Test(
        "A browser that sends a request_uri too often does not use up what other browsers may",
        arguments: Backend.available)
    func flood(backend: Backend) async throws {
        let host = try KeyHost(.null)
        let settings = Self.settings.merging(["trusted_proxies": "127.0.0.1"]) { old, _ in old }
        try await World.with(backend, settings: settings) { world in
            let signer = try await signer(world, host)
            host.publish(text: signer.object())
            let address = signer.party.address(["request_uri": host.address])
            func error(from place: String) async throws -> String? {
                try await world.server.get(address, headers: ["X-Forwarded-For": place]).redirected("error")
            }
            for _ in 1...60 { #expect(try await error(from: "198.51.100.7") == nil) }
            for _ in 1...40 { #expect(try await error(from: "198.51.100.7") == "invalid_request_uri") }
            #expect(try await error(from: "198.51.100.8") == nil)
            #expect(host.questions == 61)
        }
    }

    @Test("A request object with a jti is accepted once from its request_uri", arguments: Backend.available)
    func replayed(backend: Backend) async throws {
        let host = try KeyHost(.null)
        try await World.with(backend, settings: Self.settings) { world in
            let signer = try await signer(world, host, fragment: "#any-hash_of_then")
            host.publish(text: signer.object(["jti": "once"]))
            #expect(try await error(signer, host.address) == nil)
            #expect(try await error(signer, host.address) == "invalid_request_object")
        }
    }

    @Test("A private request_uri is not fetched unless the operator allows it, and only valid ones can be registered")
    func privateAddress() async throws {
        let host = try KeyHost(.null)
        try await World.with(.sqlite) { world in
            // What a name leads to shows when it is looked up.
            let address = host.address.replacing("http://127.0.0.1", with: "https://localhost")
            let signer = try await RequestSigner(world, ["request_uris": [.string(address)]])
            host.publish(text: signer.object())
            #expect(try await error(signer, address) == "invalid_request_uri")
            #expect(host.questions == 0)
            for bad in ["http://rp.example/o", "loom://o", "https://rp.example/o#", "https://rp.example/o#a b", "o"] {
                let refused = try await world.change(
                    "clients", signer.party.client.id, ["request_uris": [.string(bad)]])
                #expect(refused.status == 400 && refused.json["member"] == "request_uris", "\(bad)")
            }
        }
    }
}
