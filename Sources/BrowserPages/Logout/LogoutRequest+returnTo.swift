import Directory
import HTTP
import HTTPSupport
import OAuth
import Values

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

extension Request {
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
