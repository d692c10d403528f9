import TestSupport
import Testing

@Suite("Basic OP: oidcc-basic-certification-test-plan")
struct BasicModuleTests {
    @Test("oidcc-server", arguments: Backend.available)
    func server(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.server() }
    }

    @Test("oidcc-response-type-missing", arguments: Backend.available)
    func responseTypeMissing(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.responseTypeMissing() }
    }

    @Test("oidcc-idtoken-signature", arguments: Backend.available)
    func idtokenSignature(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.idTokenSignature() }
    }

    @Test("oidcc-userinfo-get", arguments: Backend.available)
    func userinfoGet(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.userinfoGet() }
    }

    @Test("oidcc-userinfo-post-header", arguments: Backend.available)
    func userinfoPostHeader(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.userinfoPostHeader() }
    }

    @Test("oidcc-userinfo-post-body", arguments: Backend.available)
    func userinfoPostBody(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.userinfoPostBody() }
    }

    @Test("oidcc-ensure-request-without-nonce-succeeds-for-code-flow", arguments: Backend.available)
    func ensureRequestWithoutNonceSucceedsForCodeFlow(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.requestWithoutNonceSucceeds() }
    }

    @Test("oidcc-scope-profile", arguments: Backend.available)
    func scopeProfile(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.scope("profile", "name", "updated_at") }
    }

    @Test("oidcc-scope-email", arguments: Backend.available)
    func scopeEmail(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.scope("email", "email", "email_verified") }
    }

    @Test("oidcc-scope-address", arguments: Backend.available)
    func scopeAddress(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.scope("address") }
    }

    @Test("oidcc-scope-phone", arguments: Backend.available)
    func scopePhone(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.scope("phone") }
    }

    @Test("oidcc-scope-all", arguments: Backend.available)
    func scopeAll(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.scopeAll() }
    }

    @Test("oidcc-alternate-happy-flow", arguments: Backend.available)
    func alternateHappyFlow(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.alternateHappyFlow() }
    }

    @Test("oidcc-display-page", arguments: Backend.available)
    func displayPage(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.display("page") }
    }

    @Test("oidcc-display-popup", arguments: Backend.available)
    func displayPopup(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.display("popup") }
    }

    @Test("oidcc-prompt-login", arguments: Backend.available)
    func promptLogin(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.promptLogin() }
    }

    @Test("oidcc-prompt-none-not-logged-in", arguments: Backend.available)
    func promptNoneNotLoggedIn(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.promptNoneNotLoggedIn() }
    }

    @Test("oidcc-prompt-none-logged-in", arguments: Backend.available)
    func promptNoneLoggedIn(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.promptNoneLoggedIn() }
    }

    @Test("oidcc-max-age-1", arguments: Backend.available)
    func maxAge1(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.maxAge1() }
    }

    @Test("oidcc-max-age-10000", arguments: Backend.available)
    func maxAge10000(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.maxAge10000() }
    }

    @Test("oidcc-ensure-request-with-unknown-parameter-succeeds", arguments: Backend.available)
    func ensureRequestWithUnknownParameterSucceeds(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.unknownParameter() }
    }

    @Test("oidcc-id-token-hint", arguments: Backend.available)
    func idTokenHint(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.idTokenHint() }
    }

    @Test("oidcc-login-hint", arguments: Backend.available)
    func loginHint(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.loginHint() }
    }

    @Test("oidcc-ui-locales", arguments: Backend.available)
    func uiLocales(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.uiLocales() }
    }

    @Test("oidcc-claims-locales", arguments: Backend.available)
    func claimsLocales(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.claimsLocales() }
    }

    @Test("oidcc-ensure-request-with-acr-values-succeeds", arguments: Backend.available)
    func ensureRequestWithAcrValuesSucceeds(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.acrValues() }
    }

    @Test("oidcc-codereuse", arguments: Backend.available)
    func codereuse(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.codeReuse(after: .zero) }
    }

    @Test("oidcc-codereuse-30seconds", arguments: Backend.available)
    func codereuse30seconds(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.codeReuse(after: .seconds(30)) }
    }

    @Test("oidcc-ensure-registered-redirect-uri", arguments: Backend.available)
    func ensureRegisteredRedirectUri(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.registeredRedirectURI() }
    }

    @Test("oidcc-ensure-post-request-succeeds", arguments: Backend.available)
    func ensurePostRequestSucceeds(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.postRequest() }
    }

    @Test("oidcc-server-client-secret-post", arguments: Backend.available)
    func serverClientSecretPost(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend, ConformanceParty.secretPost) {
            try await $0.clientSecretPost()
        }
    }

    @Test("oidcc-claims-essential", arguments: Backend.available)
    func claimsEssential(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.claimsEssential() }
    }

    @Test("oidcc-refresh-token", arguments: Backend.available)
    func refreshToken(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.refreshToken() }
    }

    @Test("oidcc-ensure-request-with-valid-pkce-succeeds", arguments: Backend.available)
    func ensureRequestWithValidPkceSucceeds(_ backend: Backend) async throws {
        try await ConformanceParty.run("code", on: backend) { try await $0.validPKCE() }
    }
}
