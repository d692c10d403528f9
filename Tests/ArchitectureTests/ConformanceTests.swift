import Foundation
import Testing

/// The certification plans of OpenID's conformance suite that this server is held to: which modules each has, and which
/// files show them. `SkippedModules` says which are left out, and why.
@Suite struct ConformanceTests {
    struct Plan: Sendable, CustomTestStringConvertible {
        let name: String
        let files: [String]
        let modules: Set<String>
        var testDescription: String { name }
    }

    @Test(
        "Every module of an OpenID conformance plan has a test of its name or is in the list of skipped ones",
        arguments: plans)
    func complete(_ plan: Plan) throws {
        let shown = try Self.names(in: plan.files, /@Test\(\s*"(oidcc-[^"]+)"/)
        let skipped = try Self.names(in: ["SkippedModules"], /"(oidcc-[^"]+)":/)
        #expect(plan.modules.subtracting(shown).subtracting(skipped) == [], "neither shown nor skipped")
        #expect(shown.subtracting(plan.modules) == [], "no module of this plan")
    }

    @Test("Every skipped OpenID conformance module belongs to a conformance plan")
    func skipped() throws {
        let skipped = try Self.names(in: ["SkippedModules"], /"(oidcc-[^"]+)":/)
        #expect(skipped.subtracting(Self.plans.flatMap(\.modules)) == [])
    }

    private static func names(in files: [String], _ pattern: Regex<(Substring, Substring)>) throws -> Set<String> {
        Set(
            try files.flatMap { file in
                try SourceTree.file("Tests/FlowTests/OpenID/\(file).swift").text.matches(of: pattern)
                    .map { String($0.output.1) }
            })
    }

    static let plans = [
        Plan(name: "basic", files: ["BasicModuleTests"], modules: request.union(code).union(codeWithoutNonce)),
        Plan(name: "config", files: ["ConfigModuleTests"], modules: ["oidcc-discovery-endpoint-verification"]),
        Plan(name: "implicit", files: ["ImplicitModuleTests"], modules: request.union(withNonce)),
        Plan(
            name: "hybrid", files: ["HybridModuleTests"],
            modules: request.union(code).union(withNonce).union(codeWithoutNonce).subtracting(["oidcc-idtoken-unsigned"]
            )),
        Plan(
            name: "form post", files: ["FormPostModuleTests"],
            modules: request.union(code).union(withNonce).union(codeWithoutNonce)),
        Plan(name: "dynamic", files: ["DynamicModuleTests", "DynamicKeyModuleTests"], modules: dynamic),
        Plan(
            name: "RP-initiated logout", files: ["LogoutModuleTests"],
            modules: Set(logout.map { "oidcc-rp-initiated-logout" + $0 })),
        Plan(
            name: "back-channel logout", files: ["BackChannelLogoutTests"],
            modules: [
                "oidcc-backchannel-logout-discovery-endpoint-verification", "oidcc-backchannel-rp-initiated-logout",
            ]),
    ]

    /// What is asked of every response type.
    private static let request = Set(
        [
            "server", "response-type-missing", "idtoken-signature", "userinfo-get", "userinfo-post-header",
            "userinfo-post-body", "scope-profile", "scope-email", "scope-address", "scope-phone", "scope-all",
            "alternate-happy-flow", "display-page", "display-popup", "prompt-login", "prompt-none-not-logged-in",
            "prompt-none-logged-in", "max-age-1", "max-age-10000", "ensure-request-with-unknown-parameter-succeeds",
            "id-token-hint", "login-hint", "ui-locales", "claims-locales", "ensure-request-with-acr-values-succeeds",
            "ensure-registered-redirect-uri", "ensure-post-request-succeeds", "claims-essential",
            "request-uri-unsigned-supported-correctly-or-rejected-as-unsupported",
            "unsigned-request-object-supported-correctly-or-rejected-as-unsupported",
            "ensure-request-object-with-redirect-uri",
        ].map { "oidcc-" + $0 })

    /// What is asked where a code comes.
    private static let code = Set(
        [
            "idtoken-unsigned", "codereuse", "codereuse-30seconds", "server-client-secret-post", "refresh-token",
            "ensure-request-with-valid-pkce-succeeds",
        ].map { "oidcc-" + $0 })
    private static let codeWithoutNonce: Set = ["oidcc-ensure-request-without-nonce-succeeds-for-code-flow"]
    private static let withNonce: Set = ["oidcc-ensure-request-without-nonce-fails"]

    private static let dynamic = Set(
        [
            "idtoken-rs256", "idtoken-unsigned", "userinfo-rs256", "ensure-redirect-uri-in-authorization-request",
            "redirect-uri-query-OK", "redirect-uri-query-mismatch", "redirect-uri-query-added", "redirect-uri-regfrag",
            "discovery-endpoint-verification", "server", "registration-logo-uri", "registration-policy-uri",
            "registration-tos-uri", "registration-jwks-uri", "registration-sector-uri", "registration-sector-bad",
            "server-rotate-keys", "refresh-token-rp-key-rotation", "request-uri-unsigned", "request-uri-signed-rs256",
            "ensure-request-object-with-redirect-uri", "refresh-token",
            "ensure-client-assertion-with-iss-aud-succeeds",
        ].map { "oidcc-" + $0 })

    private static let logout = [
        "-discovery-endpoint-verification", "", "-bad-post-logout-redirect-uri", "-modified-id-token-hint",
        "-no-id-token-hint", "-no-params", "-no-post-logout-redirect-uri", "-no-state", "-only-state",
        "-query-added-to-post-logout-redirect-uri", "-bad-id-token-hint",
    ]
}
