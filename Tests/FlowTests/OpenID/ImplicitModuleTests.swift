import TestSupport
import Testing

@Suite("Implicit OP: oidcc-implicit-certification-test-plan")
struct ImplicitModuleTests {
    private static let types = ["id_token", "id_token token"]

    @Test("oidcc-server", arguments: types)
    func server(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.server() }
    }

    @Test("oidcc-response-type-missing", arguments: types)
    func responseTypeMissing(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.responseTypeMissing() }
    }

    @Test("oidcc-idtoken-signature", arguments: types)
    func idtokenSignature(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.idTokenSignature() }
    }

    @Test("oidcc-userinfo-get", arguments: ["id_token token"])
    func userinfoGet(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.userinfoGet() }
    }

    @Test("oidcc-userinfo-post-header", arguments: ["id_token token"])
    func userinfoPostHeader(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.userinfoPostHeader() }
    }

    @Test("oidcc-userinfo-post-body", arguments: ["id_token token"])
    func userinfoPostBody(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.userinfoPostBody() }
    }

    @Test("oidcc-ensure-request-without-nonce-fails", arguments: types)
    func ensureRequestWithoutNonceFails(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.requestWithoutNonceFails() }
    }

    @Test("oidcc-scope-profile", arguments: types)
    func scopeProfile(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.scope("profile", "name", "updated_at") }
    }

    @Test("oidcc-scope-email", arguments: types)
    func scopeEmail(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.scope("email", "email", "email_verified") }
    }

    @Test("oidcc-scope-address", arguments: types)
    func scopeAddress(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.scope("address") }
    }

    @Test("oidcc-scope-phone", arguments: types)
    func scopePhone(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.scope("phone") }
    }

    @Test("oidcc-scope-all", arguments: types)
    func scopeAll(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.scopeAll() }
    }

    @Test("oidcc-alternate-happy-flow", arguments: types)
    func alternateHappyFlow(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.alternateHappyFlow() }
    }

    @Test("oidcc-display-page", arguments: types)
    func displayPage(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.display("page") }
    }

    @Test("oidcc-display-popup", arguments: types)
    func displayPopup(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.display("popup") }
    }

    @Test("oidcc-prompt-login", arguments: types)
    func promptLogin(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.promptLogin() }
    }

    @Test("oidcc-prompt-none-not-logged-in", arguments: types)
    func promptNoneNotLoggedIn(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.promptNoneNotLoggedIn() }
    }

    @Test("oidcc-prompt-none-logged-in", arguments: types)
    func promptNoneLoggedIn(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.promptNoneLoggedIn() }
    }

    @Test("oidcc-max-age-1", arguments: types)
    func maxAge1(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.maxAge1() }
    }

    @Test("oidcc-max-age-10000", arguments: types)
    func maxAge10000(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.maxAge10000() }
    }

    @Test("oidcc-ensure-request-with-unknown-parameter-succeeds", arguments: types)
    func ensureRequestWithUnknownParameterSucceeds(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.unknownParameter() }
    }

    @Test("oidcc-id-token-hint", arguments: types)
    func idTokenHint(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.idTokenHint() }
    }

    @Test("oidcc-login-hint", arguments: types)
    func loginHint(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.loginHint() }
    }

    @Test("oidcc-ui-locales", arguments: types)
    func uiLocales(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.uiLocales() }
    }

    @Test("oidcc-claims-locales", arguments: types)
    func claimsLocales(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.claimsLocales() }
    }

    @Test("oidcc-ensure-request-with-acr-values-succeeds", arguments: types)
    func ensureRequestWithAcrValuesSucceeds(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.acrValues() }
    }

    @Test("oidcc-ensure-registered-redirect-uri", arguments: types)
    func ensureRegisteredRedirectUri(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.registeredRedirectURI() }
    }

    @Test("oidcc-ensure-post-request-succeeds", arguments: types)
    func ensurePostRequestSucceeds(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.postRequest() }
    }

    @Test("oidcc-claims-essential", arguments: types)
    func claimsEssential(_ type: String) async throws {
        try await ConformanceParty.run(type) { try await $0.claimsEssential() }
    }
}
