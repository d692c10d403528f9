import Cryptography
import Directory
import HTTP
import HTTPSupport
import Pages

/// `/development/answer`: an app for developers without one. Redeems the code of a response, shows the tokens, and uses
/// them. An answer in the fragment comes as a form, which a script of the page sends.
struct DevelopmentAnswerEndpoint: Endpoint {
    static let callPath = "/development/answer/call"

    let pages: PageRenderer
    let memory: DevelopmentMemory
    let caller: DevelopmentCaller
    let random: any RandomSource

    func add(to router: inout Routes) {
        let gate = DevelopmentGate(site: pages.site)
        // It spends the code, so a HEAD must not run it.
        router.get("/development/answer", .showDevelopmentAnswer, by: gate, isSafe: false) { request, _ in
            try await receive(request.query, request)
        }
        // The form of `response_mode=form_post` comes from the authorization page, that of a fragment from this one.
        router.post("/development/answer", .takeDevelopmentAnswer, by: gate) { request, _ in
            try await receive(Form.read(request), request)
        }
        router.form(
            Self.callPath, .callForDevelopment, from: DevelopmentClient.answerPath, use: gate.guarding(call))
    }

    private func receive(_ form: Form, _ request: Request) async throws -> Response {
        if let id = form["trial"] { return await show(memory.trials.first { $0.id == id }, [], request) }
        let query = Form.query(of: request.target.text)
        let client = query["client_id"] == DevelopmentClient.backend.rawValue ? DevelopmentClient.backend : .app
        let fields = form.pairs.filter { $0.name != "client_id" }.map { HiddenField(name: $0.name, value: $0.value) }
        guard let code = form["code"], code.isToken else {
            let trial = DevelopmentTrial(id: newID, client: client, fields: fields)
            guard trial.hasTokens else { return await show(nil, fields, request) }
            memory.trials.add(trial)
            return Self.page(of: trial.id)
        }
        let trial = DevelopmentTrial(id: newID, client: client, code: code, fields: fields)
        // A page that is loaded again must not redeem its code again, which would end the tokens.
        if let known = memory.trials.add(trial, unless: { $0.code == code }) { return Self.page(of: known.id) }
        let outcome = await caller.post(
            Site.tokenPaths[0], client.redemption(of: code, at: pages.site), as: client, from: request.peer)
        return take(outcome, for: trial.id)
    }

    @Sendable private func call(_ request: Request, context: SpindleContext) async throws -> Response {
        let form = try Form.read(request)
        guard pages.forms.accepts(form, of: request) else { return pages.foreignForm(request, .forDevelopers) }
        if form["call"] == GrantType.clientCredentials.name {
            guard let client = form["client_id"].flatMap(DevelopmentClient.init), client != .app else {
                throw HTTPRefusal(.badRequest)
            }
            let trial = DevelopmentTrial(id: newID, client: client)
            memory.trials.add(trial)
            let grant = [("grant_type", GrantType.clientCredentials.name)] + client.ownScope
            return take(await caller.post(Site.tokenPaths[0], grant, as: client, from: request.peer), for: trial.id)
        }
        guard let deed = form["call"].flatMap(DevelopmentTrial.Deed.init),
            let trial = memory.trials.first(where: { $0.id == form["trial"] }),
            let outcome = await trial.call(deed, caller, from: request.peer)
        else { return await show(nil, [], request) }
        // The newest request, whose answer the developer wants to see.
        return take(outcome, for: trial.id, at: "#calls")
    }

    private func take(_ outcome: DevelopmentCaller.Outcome, for trial: String, at place: String = "") -> Response {
        memory.trials.change(where: { $0.id == trial }) { $0.take(outcome) }
        return Self.page(of: trial, at: place)
    }

    private var newID: String { Base64URL.encode(random.bytes(16)) }

    private static func page(of trial: String, at place: String = "") -> Response {
        .sendBrowser(to: "\(DevelopmentClient.answerPath)?trial=\(trial)\(place)", status: .seeOther)
    }

    private func show(_ trial: DevelopmentTrial?, _ fields: [HiddenField], _ request: Request) async -> Response {
        let form = pages.forms.issue(request)
        let client = trial?.client ?? .app
        var tokens: [DevelopmentAnswerPage.Token] = []
        for (title, text) in [
            ("ID token", trial?.idToken), ("Access token", trial?.accessToken), ("Refresh token", trial?.refreshToken),
        ] {
            if let token = await caller.token(title, text, from: request.peer) { tokens.append(token) }
        }
        let isForgotten = trial == nil && Form.query(of: request.target.text)["trial"] != nil
        let page = DevelopmentAnswerPage(
            fields: trial?.fields ?? fields, tokens: tokens, calls: trial?.calls ?? [],
            deeds: trial.flatMap { trial in
                trial.deeds.isEmpty
                    ? nil
                    : .init(
                        action: Self.callPath, formToken: form.token, trial: trial.id,
                        calls: trial.deeds.map { HiddenField(name: $0.rawValue, value: $0.title) })
            },
            fault: isForgotten ? "The server remembers the last twenty answers, until it ends." : nil,
            again: (client.request(at: pages.site) ?? DevelopmentClient.app.request(at: pages.site)) ?? "/")
        let visit = PageContext.forDevelopers
        return pages.page(
            pages.templates.developmentAnswer(page, in: visit.frame), visit, cookies: [form.setCookie], script: true)
    }
}

extension DevelopmentClient {
    /// The scope that is asked for where a client has no default one: admin scopes are never in a default.
    fileprivate var ownScope: [Form.Pair] { self == .administrator ? [("scope", "admin")] : [] }
}

extension String {
    /// Whether it may be a code or a token of ours: any site can send a browser here with any text.
    var isToken: Bool {
        !isEmpty
            && utf8.allSatisfy { byte in
                (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || "-_.".utf8.contains(byte)
            }
    }
}
