import Authentication
import Directory
import HTTP
import HTTPSupport
import Logging
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

extension LogoutRequest {
    /// Whether `request` leads from the client's own page, or from no page, to one of its registered addresses as the
    /// `returnTo` of Auth0's SDKs, which have no ID token to show. Then the client wants the logout. The caller must
    /// find out whether the user does too, having signed in to the client in this session.
    ///
    /// The browser must confirm the origin by `Sec-Fetch-Site` (Fetch Metadata §2.4) or by `Referer`. A request without
    /// either may come from any site.
    func isReturn(to client: Client, _ request: Request) -> Bool {
        let others: [Parameter] = [.idTokenHint, .postLogoutRedirectURI, .redirectURI]
        guard request.target.path == "/v2/logout", parameters[.clientID] == client.id.text,
            parameters[.returnTo] != nil, others.allSatisfy({ parameters[$0] == nil }),
            address?.isRegistered == true, client.may(.sendBrowsersOn), request.isNavigation
        else { return false }
        if request.headers[.secFetchSite] == "none" { return true }
        return request.webOrigin.map(client.ownOrigins.contains) ?? false
    }
}

extension LogoutRequest {
    /// The address to return to that this request may not use, with what may be wrong with it; nil when it may.
    var unregistered: String? {
        guard address == nil, let asked = LogoutAddress.asked(by: parameters) else { return nil }
        let value = "\(asked.parameter.rawValue): \(asked.text.prefix(200))"
        guard let client else {
            let cause =
                parameters[.idTokenHint] != nil
                ? "id_token_hint is no ID token of this server for the client of client_id"
                : "No client is known: send id_token_hint, or client_id"
            return "\(value). \(cause)."
        }
        let registered = client.postLogoutRedirectURIs + client.redirectURIs
        let mismatch = RedirectURIMismatch(asked.text, among: registered)
            .map { ". It differs from a registered address only in: \($0.rawValue)." }
        return "client_id: \(client.id), \(value)" + (mismatch ?? "")
    }

    func logUnregistered(to logger: Logger) {
        guard unregistered != nil else { return }
        logger.info(
            "left out the way back",
            metadata: [
                "reason": client == nil ? "logout_of_unknown_client" : "unregistered_post_logout_redirect_uri",
                "client": "\(client?.id.text ?? "-")",
            ])
    }
}

extension Request {
    /// Whether no browser sends it: none of the fields that browsers add is there, and it asks for no page.
    var isOfProgram: Bool {
        headers[.secFetchSite] == nil && headers[.secFetchDest] == nil && headers[.cookie] == nil
            && headers[.accept]?.contains("text/html") != true
    }

    /// Whether the user sees the answer. Browsers that do not say are believed.
    var isNavigation: Bool {
        !isPrefetch && headers[.secFetchDest].map { $0 == "document" } ?? true
    }
}

extension Client {
    /// The origins of all its registered addresses.
    fileprivate var ownOrigins: Set<String> {
        Set(webOrigins + (redirectURIs + postLogoutRedirectURIs).compactMap(\.origin))
    }
}
