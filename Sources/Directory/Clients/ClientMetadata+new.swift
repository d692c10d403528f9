public import JSON
import Values

extension ClientMetadata {
    /// Reads the document of a client that administration makes. It must be able to work: one that sends users here has
    /// a redirect URI, and unless the document says otherwise the scope of an OpenID Connect sign-in.
    public init(ofNew json: JSON) throws {
        try self.init(json)
        guard grantTypes.contains(.authorizationCode) else { return }
        guard !redirectURIs.isEmpty else {
            throw JSONFault(
                "redirect_uris",
                "given for a client with the grant type authorization_code, which is the usual one; a machine has "
                    + "client_credentials")
        }
        // SPiD's clients ask for no scope.
        guard try JSONMembers(json).any("scope") == nil, !kind.may(.getSPiDAnswers) else { return }
        scope = Scope([Scope.openID, "profile", "email"])
        if grantTypes.contains(.refreshToken) { scope.formUnion(Scope([Scope.offlineAccess])) }
    }
}

extension ClientMetadata {
    /// Refuses a lifetime that no token of the client would have, where `document` sets it.
    func checkLifetime(_ document: JSONMembers) throws(JSONFault) {
        guard document.any("access_token_lifetime") != nil, accessTokenLifetime > Client.longestRenewable,
            canRenewEveryToken
        else { return }
        throw JSONFault(
            "access_token_lifetime",
            "at most \(Client.longestRenewable.seconds) for a client that can always get another token, by "
                + "refresh_token or client_credentials")
    }

    private var canRenewEveryToken: Bool {
        guard !grantTypes.isSubset(of: [.clientCredentials]) else { return true }
        guard grantTypes.contains(.refreshToken), !openID.responseTypes.contains(where: \.isDirect) else {
            return false
        }
        return kind.may(.keepTokensAfterSessions) || scope.contains(Scope.offlineAccess)
    }
}

extension RedirectURI {
    /// What a redirect URI must be, with what was probably meant by `text`, which is none.
    static func expected(inPlaceOf text: String) -> String {
        let scheme = text.hasPrefix("localhost") || text.hasPrefix("127.") ? "http" : "https"
        if !text.contains("://"), text.utf8.count <= 200, let meant = RedirectURI(registering: "\(scheme)://\(text)") {
            return "absolute URIs, with a scheme (did you mean \(meant)?)"
        }
        if text.contains("*") { return "URIs without wildcards: they are compared character for character" }
        return "absolute URIs without fragment, user or password, in a scheme that runs no script; https, or http to "
            + "localhost, 127.0.0.0/8 or ::1"
    }
}
