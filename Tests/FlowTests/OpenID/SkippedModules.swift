import JSON
import TestSupport
import Testing

@Suite("Modules that the conformance suite skips for this server")
struct SkippedModules {
    /// The modules that the suite skips, with its reason. Every module of the other plans has a test
    /// (`ConformanceTests`).
    static let reasons: KeyValuePairs<String, String> = [
        "oidcc-idtoken-unsigned":
            "the client cannot register for unsigned ID tokens: id_token_signing_alg_values_supported lacks none",
        "oidcc-request-uri-unsigned":
            "request_object_signing_alg_values_supported lacks none",
        "oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported":
            "request_object_signing_alg_values_supported lacks none",
        "oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported":
            "request_object_signing_alg_values_supported lacks none",
        "oidcc-ensure-request-object-with-redirect-uri":
            "request_object_signing_alg_values_supported lacks none",
    ]

    @Test(
        "Discovery announces no algorithm none, which is why the conformance suite skips some modules",
        arguments: Backend.available)
    func reasons(backend: Backend) async throws {
        try await World.with(backend) { world in
            let metadata = try await world.server.get("/.well-known/openid-configuration").json
            for name in ["id_token_signing_alg_values_supported", "request_object_signing_alg_values_supported"] {
                let algorithms = try #require(metadata[name]?.strings)
                #expect(algorithms.contains("RS256"))
                #expect(!algorithms.contains("none"))
            }
            let refused = try await World.make(
                world.server, world.admin, "clients",
                ["merchant_id": .string(world.merchant), "id_token_signed_response_alg": "none"])
            #expect(refused.status == 400)
        }
        print("conformance modules that the suite skips for this server: \(Self.reasons.count)")
    }
}
