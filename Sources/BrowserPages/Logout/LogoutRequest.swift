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
    /// Where the browser goes next; nil when it stays.
    let address: LogoutAddress?
    private let hint: IDTokenHint?

    /// - Parameter isNamed: whether the request itself names the client, rather than a token that came with it.
    init(_ parameters: OAuth.Parameters, client: Client?, isNamed: Bool) {
        self.parameters = parameters
        self.client = client
        address = LogoutAddress(parameters, client: client, isUsual: isNamed)
        hint = nil
    }

    /// A request with an `id_token_hint`. A hint that is not ours, or of another client than the named one, leaves the
    /// sender unknown, and the request leads nowhere.
    init(_ parameters: OAuth.Parameters, hinted: IDTokenHint?) {
        let isAgreed = parameters[.clientID].map { $0 == hinted?.client.id.text } ?? true
        let hint = isAgreed ? hinted : nil
        self.parameters = parameters
        self.hint = hint
        client = hint?.client
        address = LogoutAddress(parameters, client: hint?.client)
    }

    /// The only client that the user leaves; nil when the whole browser is signed out.
    var leaves: Client? { parameters[.logoutScope] == "client" ? client : nil }

    /// The ID token that tells which user the request means. A request with a redirect URI that it may not use proves
    /// nothing, whatever it contains.
    var shown: IDTokenHint? { address != nil || !LogoutAddress.isAsked(by: parameters) ? hint : nil }

    /// Whether an ID token proves that `session` is meant: it was issued in it, to its user.
    func isShown(by session: Session) async throws -> Bool {
        guard let hint = shown, try await hint.isOf(session: session.id) else { return false }
        return try await hint.isAbout(session.user)
    }

    /// The parameters that a page carries along when it asks first, with the client under one name.
    var fields: [HiddenField] {
        let carried: [Parameter] = [
            .idTokenHint, .postLogoutRedirectURI, .redirectURI, .returnTo, .state, .uiLocales, .logoutScope,
        ]
        let id = (parameters[.clientID] ?? client?.id.text).map { HiddenField(name: "client_id", value: $0) }
        return [id].compactMap(\.self)
            + carried.compactMap { name in parameters[name].map { HiddenField(name: name.rawValue, value: $0) } }
    }

    /// Whether a form is a client's, not ours: it names a client, an ID token or a redirect URI.
    static func isOfClient(_ parameters: OAuth.Parameters) -> Bool {
        [.clientID, .clientSDRN, .idTokenHint, .postLogoutRedirectURI].contains { parameters[$0] != nil }
    }
}
