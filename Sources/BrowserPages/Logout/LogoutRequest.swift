import Authentication
import Directory
import OAuth
import OpenID
import Pages
import Values

/// What a request to sign out asks for, and for which client (RP-Initiated Logout §2).
struct LogoutRequest {
    let parameters: OAuth.Parameters
    let client: Client?
    /// Where the browser goes then; nil when it stays.
    let address: LogoutAddress?
    private let hint: IDTokenHint?

    init(_ parameters: OAuth.Parameters, client: Client?) {
        self.parameters = parameters
        self.client = client
        address = LogoutAddress(parameters, client: client)
        hint = nil
    }

    /// With an `id_token_hint`, as it was read. One that is not ours, or of another client than the request names, spoils
    /// the request: its sender is nobody we know, and it leads nowhere.
    init(_ parameters: OAuth.Parameters, hinted: IDTokenHint?) {
        let isAgreed = parameters[.clientID].map { $0 == hinted?.client.id.text } ?? true
        let hint = isAgreed ? hinted : nil
        self.parameters = parameters
        self.hint = hint
        client = hint?.client
        address = LogoutAddress(parameters, client: hint?.client)
    }

    /// Whether an ID token shows that `session` is meant: one that was given in it, to its person. A request that would
    /// lead elsewhere than it may shows nothing, whatever it holds.
    func isShown(by session: Session) async throws -> Bool {
        guard let hint, address != nil || !LogoutAddress.isAsked(by: parameters),
            try await hint.isOf(session: session.id)
        else { return false }
        return try await hint.isAbout(session.user)
    }

    /// What a page that asks first carries along.
    var fields: [HiddenField] {
        let carried: [Parameter] = [
            .clientID, .idTokenHint, .postLogoutRedirectURI, .redirectURI, .returnTo, .state, .uiLocales,
        ]
        return carried.compactMap { name in parameters[name].map { HiddenField(name: name.rawValue, value: $0) } }
    }

    /// Whether a form is a client's, not ours: it says for whom it is, or whom it is about.
    static func isOfClient(_ parameters: OAuth.Parameters) -> Bool {
        [.clientID, .idTokenHint, .postLogoutRedirectURI].contains { parameters[$0] != nil }
    }
}
