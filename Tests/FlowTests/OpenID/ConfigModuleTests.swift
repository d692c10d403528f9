import Foundation
import JSON
import TestSupport
import Testing

@Suite("Config OP: oidcc-config-certification-test-plan")
struct ConfigModuleTests {
    private static let issuer = "https://id.example"

    /// The members that the suite knows. It warns of any other.
    private static let known: Set<String> = [
        "issuer", "authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri", "registration_endpoint",
        "introspection_endpoint", "revocation_endpoint", "end_session_endpoint", "scopes_supported",
        "response_types_supported", "response_modes_supported", "grant_types_supported", "acr_values_supported",
        "subject_types_supported", "id_token_signing_alg_values_supported", "userinfo_signing_alg_values_supported",
        "request_object_signing_alg_values_supported", "token_endpoint_auth_methods_supported",
        "token_endpoint_auth_signing_alg_values_supported", "display_values_supported", "claim_types_supported",
        "claims_supported", "ui_locales_supported", "claims_parameter_supported", "request_parameter_supported",
        "request_uri_parameter_supported", "require_request_uri_registration", "code_challenge_methods_supported",
        "introspection_endpoint_auth_methods_supported",
        "introspection_endpoint_auth_signing_alg_values_supported",
        "revocation_endpoint_auth_signing_alg_values_supported", "revocation_endpoint_auth_methods_supported",
        "authorization_response_iss_parameter_supported", "prompt_values_supported", "backchannel_logout_supported",
        "backchannel_logout_session_supported",
    ]

    @Test("oidcc-discovery-endpoint-verification", arguments: Backend.available)
    func discovery(backend: Backend) async throws {
        try await World.with(backend, settings: ["issuer": Self.issuer]) { world in
            let answer = try await world.server.get("/.well-known/openid-configuration")
            #expect(answer.status == 200)
            #expect(answer.header("content-type") == "application/json")
            let metadata = answer.json
            let members = try #require(metadata.members)
            #expect(metadata["issuer"]?.string == Self.issuer)
            for member in members {
                #expect(Self.known.contains(member.name), "\(member.name)")
                if member.name.hasSuffix("_endpoint") || member.name.hasSuffix("_uri") {
                    #expect(member.value.string?.hasPrefix("https://id.example/") == true, "\(member.name)")
                }
                if member.name.hasSuffix("_supported"), member.value.bool == nil {
                    let list = try #require(member.value.strings, "\(member.name)")
                    #expect(!list.isEmpty && Set(list).count == list.count, "\(member.name)")
                }
            }
            func list(_ name: String) -> Set<String> { Set(metadata[name]?.strings ?? []) }
            for name in [
                "authorization_endpoint", "token_endpoint", "userinfo_endpoint", "registration_endpoint", "jwks_uri",
            ] {
                #expect(metadata[name]?.string != nil, "\(name)")
            }
            #expect(list("response_types_supported").isSuperset(of: ["code", "id_token", "id_token token"]))
            #expect(list("subject_types_supported") == ["public", "pairwise"])
            #expect(list("id_token_signing_alg_values_supported").contains("RS256"))
            #expect(list("request_object_signing_alg_values_supported").contains("RS256"))
            #expect(list("grant_types_supported").isSuperset(of: ["authorization_code", "implicit"]))
            #expect(list("scopes_supported").contains("openid"))
            #expect(list("claims_supported").contains("sub"))
            for flag in [
                "request_parameter_supported", "request_uri_parameter_supported", "claims_parameter_supported",
            ] {
                #expect(metadata[flag]?.bool != nil)
            }
            try await checkKeys(world)
        }
    }

    private func checkKeys(_ world: World) async throws {
        let keys = try #require(try await world.server.get("/oauth/jwks").json["keys"]?.array)
        #expect(!keys.isEmpty)
        let names = keys.compactMap { $0["kid"]?.string }
        #expect(names.count == keys.count && Set(names).count == names.count)
        for key in keys {
            #expect(["RSA", "EC", "OKP"].contains(key["kty"]?.string ?? ""))
            #expect(key["use"]?.string == "sig")
            for secret in ["d", "p", "q", "dp", "dq", "qi", "oth", "k"] { #expect(key[secret] == nil) }
        }
    }

    @Test("Discovery names signing algorithms for each endpoint that takes client assertions, and never none")
    func assertionAlgorithms() async throws {
        try await World.with(.sqlite) { world in
            for document in ["openid-configuration", "oauth-authorization-server"] {
                let metadata = try await world.server.get("/.well-known/\(document)").json
                for endpoint in ["token", "introspection", "revocation"] {
                    let name = "\(endpoint)_endpoint_auth"
                    let methods = try #require(metadata["\(name)_methods_supported"]?.strings)
                    guard methods.contains(where: { $0.hasSuffix("_jwt") }) else { continue }
                    let algorithms = metadata["\(name)_signing_alg_values_supported"]?.strings ?? []
                    #expect(!algorithms.isEmpty && !algorithms.contains("none"), "\(document): \(name)")
                }
            }
        }
    }

    @Test("Each response type that discovery announces is accepted, and it announces the four response modes")
    func announced() async throws {
        try await World.with(.sqlite) { world in
            let metadata = try await world.server.get("/.well-known/openid-configuration").json
            for type in try #require(metadata["response_types_supported"]?.strings) {
                let party = try await ConformanceParty(world, type: type)
                let answer = try await world.server.get(party.address(["prompt": "none"]))
                #expect(answer.header("location")?.contains("error=login_required") == true, "\(type)")
            }
            #expect(metadata["response_modes_supported"]?.strings == ["query", "fragment", "form_post", "web_message"])
        }
    }
}
