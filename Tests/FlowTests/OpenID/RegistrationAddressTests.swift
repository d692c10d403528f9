import JSON
import TestSupport
import Testing

@testable import Directory
@testable import OAuth

@Suite("Addresses that a client may not register for itself")
struct RegistrationAddressTests {
    @Test("A registration is refused if one of its addresses is at this server's own origin")
    func ownOrigin() async throws {
        try await World.with(.sqlite, settings: ["issuer": "https://spindle.test"]) { world in
            let token = try await world.initialToken()
            for own in [
                "https://spindle.test/logout", "HTTPS://Spindle.TEST:443/logout", "https://spindle.test?x=1",
                "https://spindle%2etest/logout", "https://%73pindle.test/", "https://spindle.test./logout",
                "https://spindle.test:0443/logout",
            ] {
                for name in ["client_uri", "logo_uri", "policy_uri", "tos_uri", "initiate_login_uri"] {
                    let refused = try await world.sendRegistration([name: .string(own)], with: token)
                    try await expect(400, "invalid_client_metadata", refused, "\(name) \(own)")
                    #expect(refused.json["error_description"]?.string?.contains("not this server's") == true)
                }
                let back = try await world.sendRegistration(
                    ["redirect_uris": ["https://rp.example/", .string(own)]], with: token)
                try await expect(400, "invalid_redirect_uri", back, own)
                let bye = try await world.sendRegistration(
                    ["post_logout_redirect_uris": [.string(own)]], with: token)
                try await expect(400, "invalid_client_metadata", bye, own)
            }
            let made = try await world.register([
                "policy_uri": "https://spindle.test.rp.example/", "client_uri": "https://www.spindle.test/",
                "tos_uri": "https://spindle.test:8443/",
            ])
            let changed = try await made.send("PUT", made.update(["policy_uri": "https://spindle.test/logout"]))
            try await expect(400, "invalid_client_metadata", changed)
        }
    }

    @Test(
        "An address at this server's origin is refused in every spelling, also as a number or in punycode",
        arguments: [
            ("http://127.0.0.1:8080", ["http://127.1:8080/", "http://0x7f000001:8080/", "http://127.0.0.1.:8080/"]),
            ("http://[::1]:8080", ["http://[0:0:0:0:0:0:0:1]:8080/", "http://[0::0.0.0.1]:8080/"]),
            ("https://b%C3%BCcher.example", ["https://xn--bcher-kva.example/", "https://XN--BCHER-KVA.example./"]),
            ("https://xn--bcher-kva.example", ["https://b%C3%BCcher.example/", "https://B%C3%9Ccher%2Eexample/"]),
        ])
    func spellings(_ site: String, _ spellings: [String]) throws {
        let rules = AddressRules(site: site) { _ in true }
        for text in [site + "/"] + spellings {
            #expect(throws: JSONFault.self, "\(text)") { try rules.check(["client_uri": .string(text)]) }
        }
        for other in ["https://example.com/", "http://127.0.0.1:8081/", "http://[::2]:8080/", "com.example.rp:/back"] {
            try rules.check(["client_uri": .string(other)])
        }
    }

    @Test("A self-registered client's custom scheme must be a reverse domain name that no browser acts on")
    func schemes() async throws {
        try await World.with(.sqlite) { world in
            let token = try await world.initialToken()
            for scheme in [
                "view-source:https://rp.example/", "filesystem:https://rp.example/", "intent://rp.example/#Intent",
                "chrome://settings", "ms-msdt:/id", "smb://rp.example/x", "ws://rp.example/", "ftp://rp.example/",
                "mailto:ada@rp.example", "tel:+441", "jar:https://rp.example/!/", "x:y", "rp://back", "RP:/back",
            ] {
                let back = try await world.sendRegistration(["redirect_uris": [.string(scheme)]], with: token)
                try await expect(400, "invalid_redirect_uri", back, scheme)
                let bye = try await world.sendRegistration(
                    ["post_logout_redirect_uris": [.string(scheme)]], with: token)
                try await expect(400, "invalid_client_metadata", bye, scheme)
            }
            for good in ["com.example.rp:/back", "com.example.rp://back", "http://127.0.0.1/back"] {
                let made = try await world.sendRegistration(["redirect_uris": [.string(good)]], with: token)
                #expect(made.status == 201, "\(good): \(made)")
            }
            // Administration may register it.
            #expect(try await world.confidential(["redirect_uris": ["loom://back"]]).redirectURI == "loom://back")
        }
    }

    @Test("A registered URI to fetch from is refused if its host is private, unless the operator allows that")
    func privateServers() async throws {
        try await World.with(.sqlite) { world in
            let token = try await world.initialToken()
            let made = try await world.register()
            for address in [
                "https://127.0.0.1:1/", "http://127.0.0.1:1/x", "https://10.0.0.1/", "https://[::1]/",
                "https://169.254.169.254/latest", "http://localhost/keys", "https://[::ffff:192.168.0.1]/",
                // What resolvers read as an address: decimal, octal, hexadecimal and short forms, and a dot at the end.
                "https://2130706433/x", "https://0x7f000001/", "https://0177.0.0.1/", "https://127.1/",
                "https://2130706433./", "https://10.0.0.1./", "https://0xA.1/", "https://0/",
            ] {
                for name in ["jwks_uri", "backchannel_logout_uri", "sector_identifier_uri"] {
                    let refused = try await world.sendRegistration([name: .string(address)], with: token)
                    try await expect(400, "invalid_client_metadata", refused, "\(name) \(address)")
                    #expect(refused.json["error_description"]?.string?.contains(name) == true)
                    let changed = try await made.send("PUT", made.update([name: .string(address)]))
                    try await expect(400, "invalid_client_metadata", changed, "\(name) \(address)")
                }
                let administered = try await world.change(
                    "clients", world.backend.id, ["jwks_uri": .string(address)])
                #expect(administered.status == 400 && administered.json["member"] == "jwks_uri", "\(address)")
                let requests = try await world.change(
                    "clients", world.backend.id, ["request_uris": [.string(address)]])
                #expect(requests.status == 400 && requests.json["member"] == "request_uris", "\(address)")
            }
            let open = try await world.sendRegistration(
                ["jwks_uri": "https://rp.example/keys", "backchannel_logout_uri": "https://rp.example/bye"], with: token
            )
            #expect(open.status == 201)
        }
        // With outbound_allow_private these addresses are accepted.
        try await World.with(.sqlite, settings: World.receiversAllowed) { world in
            _ = try await world.register(["backchannel_logout_uri": "http://127.0.0.1:1/bye"])
            _ = try await world.register(["backchannel_logout_uri": "https://2130706433:1/bye"])
            let administered = try await world.change(
                "clients", world.backend.id, ["backchannel_logout_uri": "http://127.0.0.1:1/bye"])
            #expect(administered.status == 200, "\(administered)")
        }
    }

    @Test(
        "A native client with an http://localhost redirect URI cannot become a web client by an update",
        arguments: Backend.available)
    func localhost(backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await world.register([
                "application_type": "native", "redirect_uris": ["http://localhost:1234/back"],
                "response_types": ["id_token"],
            ])
            for type: JSON in ["web", .null] {
                let refused = try await made.send("PUT", made.update(["application_type": type]))
                try await expect(400, "invalid_redirect_uri", refused, type.text)
            }
            let kept = try await made.send("PUT", made.update())
            #expect(kept.status == 200 && kept.json["application_type"] == "native", "\(kept)")
        }
    }
}
