import Directory
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("The next step of an authorization request")
struct AuthorizationDecisionTests {
    typealias Step = AuthorizationRequest.Step

    private static let now = Timestamp(milliseconds: 1_000_000 * 1000)

    /// A user who signed in `ago` seconds before.
    private static func visitor(
        _ ago: Int64 = 60, _ origin: Session.Origin = .signIn,
        email: BrowserSessionState.Email = .verified,
        consented: [String]? = nil, isMeant: Bool = true, isIntroduced: Bool = true, isGone: Bool = false,
        isPresent: Bool = false
    ) -> BrowserSessionState {
        BrowserSessionState(
            subject: Subject(user: UserID(7), signedInAt: now - .seconds(ago)), origin: origin, email: email,
            consented: consented.map { Scope($0) }, isMeant: isMeant, isIntroduced: isIntroduced,
            isGone: isGone, isPresent: isPresent)
    }

    private struct Row {
        let asking: AuthorizationFixture.Asking
        let changes: KeyValuePairs<String, String>
        let visitor: BrowserSessionState?
        let step: Step

        init(
            _ asking: AuthorizationFixture.Asking, _ changes: KeyValuePairs<String, String>,
            _ visitor: BrowserSessionState?,
            _ step: Step
        ) {
            (self.asking, self.changes, self.visitor, self.step) = (asking, changes, visitor, step)
        }
    }

    private func expect(_ rows: [Row]) async throws {
        let fixture = try await AuthorizationFixture()
        for row in rows {
            let request = try await fixture.request(row.asking, row.changes)
            #expect(request.next(for: row.visitor, at: Self.now) == row.step, "\(row)")
        }
        await fixture.database.close()
    }

    @Test("Without a session an authorization request asks for sign-in; with one, an own app's is answered")
    func signIn() async throws {
        try await expect([
            Row(.own, [:], nil, .signIn),
            Row(.stranger, [:], nil, .signIn),
            Row(.own, ["prompt": "none"], nil, .refuse(.loginRequired)),
            Row(.own, [:], Self.visitor(), .respond),
            Row(.own, ["prompt": "none"], Self.visitor(), .respond),
        ])
    }

    @Test("prompt=login or select_account asks for sign-in, create for sign-up, even if a user is signed in")
    func prompts() async throws {
        for visitor in [Self.visitor(), nil] {
            try await expect([
                Row(.own, ["prompt": "login"], visitor, .signIn),
                Row(.own, ["prompt": "select_account"], visitor, .signIn),
                Row(.own, ["prompt": "login consent"], visitor, .signIn),
                Row(.own, ["prompt": "create"], visitor, .signUp),
                Row(.own, ["prompt": "create login"], visitor, .signUp),
            ])
        }
    }

    @Test(
        "The user picks one of several sessions if none is meant, unless prompt is login, create or none"
    )
    func pick() async throws {
        let fixture = try await AuthorizationFixture()
        let rows: [(KeyValuePairs<String, String>, BrowserSessionState?, Step)] = [
            ([:], Self.visitor(), .respond), ([:], nil, .pick), ([:], Self.visitor(isMeant: false), .pick),
            (["prompt": "select_account"], Self.visitor(), .pick), (["prompt": "select_account"], nil, .pick),
            (["prompt": "select_account login"], Self.visitor(), .signIn), (["prompt": "login"], nil, .signIn),
            (["prompt": "select_account", "max_age": "0"], Self.visitor(), .signIn),
            (["prompt": "select_account create"], nil, .signUp),
            (["prompt": "none"], nil, .refuse(.loginRequired)), (["prompt": "none"], Self.visitor(), .respond),
            ([:], Self.visitor(60, .bought(merchant: Merchant.ID("another"))), .pick),
        ]
        for (changes, visitor, step) in rows {
            let request = try await fixture.request(.own, changes)
            #expect(request.next(for: visitor, at: Self.now, canPick: true) == step, "\(changes)")
        }
        await fixture.database.close()
    }

    @Test("A user who signed out of the client must sign in again, and prompt=none gets login_required")
    func gone() async throws {
        try await expect([
            Row(.own, [:], Self.visitor(isGone: true), .signIn),
            Row(.own, ["prompt": "none"], Self.visitor(isGone: true), .refuse(.loginRequired)),
            Row(.own, ["prompt": "none"], Self.visitor(isIntroduced: false, isGone: true), .refuse(.loginRequired)),
        ])
    }

    @Test("A sign-in older than max_age must be confirmed; max_age=0 means prompt=login")
    func maxAge() async throws {
        try await expect([
            Row(.own, ["max_age": "60"], Self.visitor(60), .respond),
            Row(.own, ["max_age": "59"], Self.visitor(60), .confirm),
            Row(.own, ["max_age": "59", "prompt": "none"], Self.visitor(60), .refuse(.loginRequired)),
            Row(.own, ["max_age": "0"], Self.visitor(0), .signIn),
            Row(.own, ["max_age": "0", "prompt": "none"], Self.visitor(0), .refuse(.loginRequired)),
            // Confirmation comes before consent, because another user may be at the browser.
            Row(.stranger, ["max_age": "59"], Self.visitor(60), .confirm),
        ])
    }

    @Test("An essential acr that a new sign-in does not reach leads to a refusal, not to another sign-in")
    func unreachedContext() async throws {
        let fixture = try await AuthorizationFixture()
        let claims = #"{"id_token":{"acr":{"essential":true,"value":"urn:spindle:issuer"}}}"#
        let request = try await fixture.request(.own, ["claims": claims])
        #expect(request.next(for: Self.visitor(0), at: Self.now) == .signIn)
        #expect(request.next(for: nil, at: Self.now, hasAsked: true) == .signIn)
        let refused = Step.refuse(.unmetAuthenticationRequirements)
        #expect(request.next(for: Self.visitor(0), at: Self.now, hasAsked: true) == refused)
        let silent = try await fixture.request(.own, ["claims": claims, "prompt": "none"])
        #expect(silent.next(for: Self.visitor(0), at: Self.now) == .refuse(.loginRequired))
        await fixture.database.close()
    }

    @Test("A bought session counts for clients of the merchant whose token bought it, and for no other's")
    func bought() async throws {
        let fixture = try await AuthorizationFixture()
        let request = try await fixture.request(.own)
        let merchants: [(Merchant.ID?, Step)] = [
            (fixture.merchant, .respond), (Merchant.ID("another"), .signIn), (nil, .signIn),
        ]
        for (merchant, step) in merchants {
            #expect(request.next(for: Self.visitor(60, .bought(merchant: merchant)), at: Self.now) == step)
        }
        let silent = try await fixture.request(.own, ["prompt": "none"])
        let foreign = Self.visitor(60, .bought(merchant: Merchant.ID("another")))
        #expect(silent.next(for: foreign, at: Self.now) == .refuse(.loginRequired))
        await fixture.database.close()
    }

    @Test("A client that requires a verified address is answered only for a user who has verified one")
    func verify() async throws {
        try await expect([
            Row(.strict, [:], Self.visitor(email: .verified), .respond),
            Row(.strict, [:], Self.visitor(email: .unverified), .verify),
            Row(.strict, ["prompt": "consent"], Self.visitor(email: .unverified), .verify),
            Row(.strict, ["prompt": "none"], Self.visitor(email: .unverified), .refuse(.interactionRequired)),
            Row(.strict, [:], Self.visitor(email: .none), .refuse(.accessDenied)),
            Row(.strict, ["prompt": "none"], Self.visitor(email: .none), .refuse(.accessDenied)),
            Row(.own, [:], Self.visitor(email: .unverified), .respond),
            Row(.own, [:], Self.visitor(email: .none), .respond),
        ])
    }

    @Test("A third party asks consent to scopes not yet allowed; a merchant's own app only with prompt=consent")
    func consent() async throws {
        let all = Scope(["openid", "profile"])
        try await expect([
            Row(.stranger, [:], Self.visitor(), .consent(all)),
            Row(.stranger, [:], Self.visitor(consented: []), .consent(all)),
            Row(.stranger, [:], Self.visitor(consented: ["openid"]), .consent(Scope(["profile"]))),
            Row(.stranger, [:], Self.visitor(consented: ["email", "profile", "openid"]), .respond),
            Row(.stranger, ["scope": "email"], Self.visitor(consented: ["profile"]), .consent(Scope(["email"]))),
            Row(.stranger, ["prompt": "consent"], Self.visitor(consented: ["openid", "profile"]), .consent(all)),
            Row(.stranger, ["prompt": "none"], Self.visitor(), .refuse(.consentRequired)),
            Row(.stranger, ["prompt": "none"], Self.visitor(consented: ["openid"]), .refuse(.consentRequired)),
            Row(.stranger, ["prompt": "none"], Self.visitor(consented: ["openid", "profile"]), .respond),
            Row(.own, ["prompt": "consent"], Self.visitor(), .consent(all)),
            Row(.own, ["prompt": "consent"], Self.visitor(consented: ["openid", "profile"]), .consent(all)),
        ])
    }

    @Test("A new merchant is first introduced to the user, and so is a client with an app's own redirect scheme")
    func introduce() async throws {
        let unmet = Self.visitor(isIntroduced: false)
        try await expect([
            Row(.own, [:], unmet, .introduce),
            Row(.own, ["prompt": "none"], unmet, .refuse(.consentRequired)),
            // The same for another user, however they signed in.
            Row(.own, ["prompt": "none"], Self.visitor(isMeant: false, isIntroduced: false), .refuse(.consentRequired)),
            Row(.own, ["prompt": "none", "max_age": "59"], unmet, .refuse(.consentRequired)),
            Row(
                .strict, ["prompt": "none"], Self.visitor(email: .none, isIntroduced: false),
                .refuse(.consentRequired)),
            Row(.strict, [:], Self.visitor(email: .none, isIntroduced: false), .introduce),
            Row(.own, ["max_age": "59"], unmet, .confirm),
            Row(.own, ["prompt": "consent"], unmet, .consent(Scope(["openid", "profile"]))),
            Row(.app, [:], Self.visitor(), .respond),
            Row(.app, ["redirect_uri": "app://back"], Self.visitor(), .introduce),
            Row(.app, ["redirect_uri": "app://back"], Self.visitor(isPresent: true), .respond),
            Row(.app, ["redirect_uri": "app://back"], Self.visitor(isIntroduced: false, isPresent: true), .introduce),
            Row(.app, ["redirect_uri": "app://back", "prompt": "none"], Self.visitor(), .refuse(.interactionRequired)),
            Row(.own, ["redirect_uri": "app://back"], Self.visitor(), .introduce),
        ])
    }

    @Test("A consent grants the ticked scopes that were shown, earlier ones, and those that need no tick")
    func decision() async throws {
        let fixture = try await AuthorizationFixture()
        let rows: [(KeyValuePairs<String, String>, ticked: [String], before: [String]?, ConsentDecision?)] = [
            ([:], ["openid", "profile"], nil, decided("openid profile", "openid profile", "openid profile")),
            // The scope openid needs no tick.
            ([:], [], nil, decided("openid profile", "openid", "openid")),
            ([:], ["profile", "email", "admin"], nil, decided("openid profile", "openid profile", "openid profile")),
            (["scope": "profile email"], [], nil, decided("profile email", "", "")),
            (["scope": "profile email"], ["email"], nil, decided("profile email", "email", "email")),
            (["scope": "profile email"], [], ["profile"], decided("email", "", "profile")),
            (["scope": "profile email"], ["profile"], ["profile"], decided("email", "", "profile")),
            (["scope": "profile email"], ["email"], ["profile"], decided("email", "email", "profile email")),
            // When all is asked again, a tick that is missing now counts.
            (
                ["scope": "profile email", "prompt": "consent"], ["email"], ["profile"],
                decided("profile email", "email", "email")
            ),
            ([:], ["profile"], ["openid", "profile"], nil),
        ]
        for (changes, ticked, before, expected) in rows {
            let request = try await fixture.request(.stranger, changes)
            let decision = request.decision(ticked: Scope(ticked), consented: before.map { Scope($0) })
            #expect(decision == expected, "\(changes) \(ticked) \(before ?? [])")
        }
        await fixture.database.close()
    }

    private func decided(_ shown: String, _ allowed: String, _ granted: String) -> ConsentDecision {
        func scope(_ text: String) -> Scope { Scope(text.split(separator: " ").map(String.init)) }
        return ConsentDecision(shown: scope(shown), allowed: scope(allowed), granted: scope(granted))
    }
}
