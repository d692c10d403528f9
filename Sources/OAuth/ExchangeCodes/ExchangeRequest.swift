import Directory
import Values

/// A device's request at `/oauth/exchange`, and the check whether it is allowed.
public struct ExchangeRequest: Sendable {
    let client: Client.ID
    let kind: ExchangeCode.Kind
    let redirectURI: String?
    /// Returned with the redirect that spends a session code.
    let state: String?

    /// The longest `state`, in bytes, because it is stored with the code.
    private static let longestState = 2048

    public init(_ parameters: Parameters) throws(OAuthError) {
        guard let id = try parameters.either(.exchangeClientID, .clientID) else { throw .missing(.exchangeClientID) }
        guard let kind = ExchangeCode.Kind(rawValue: try parameters.require(.type)) else {
            throw .malformed(.type, "'code' or 'session'")
        }
        self.client = Client.ID(id)
        self.kind = kind
        redirectURI = try parameters.either(.exchangeRedirectURI, .redirectURI)
        guard kind == .code || redirectURI != nil else { throw .missing(.exchangeRedirectURI) }
        state = kind == .session ? parameters[.state] : nil
        guard state?.utf8.count ?? 0 <= Self.longestState else {
            throw .malformed(.state, "at most \(Self.longestState) bytes")
        }
    }

    /// A token that came through a URL, within reach of a page's scripts, buys nothing, unless its SPiD-compatible
    /// client is set so. Even then it buys only codes, which need the receiver's secret: a session would sign its
    /// bearer in to each app of the merchant.
    private func checkFrontChannel(of buyer: Client?) throws(OAuthError) {
        guard let buyer, buyer.spid.exchangeFrontChannelTokens else {
            throw OAuthError(
                .accessDenied, "front_channel_exchange",
                "A token from an authorization response buys nothing: use one from the token endpoint.")
        }
        guard kind == .code else {
            throw OAuthError(
                .accessDenied, "front_channel_session",
                "A token from an authorization response buys no sessions: use one from the token endpoint.")
        }
    }

    /// The scope that `token` may buy for `receiver`; throws when it may not buy. `buyer` is the token's client, if the
    /// token came with an authorization response.
    func check(
        _ token: AccessToken, of buyer: Client?, receiver: Client?, accounts: SessionCodeAddresses
    ) throws(OAuthError) -> Scope {
        guard token.family != nil, token.user != nil else { throw .userTokenNeeded }
        // The code signs the user in at a backend or in a browser, but the user allowed a third-party app a few scopes
        // only (RFC 9700 §4.5: the backend could not tell that code from one of its own sign-ins).
        guard token.may(.buyCodes) else {
            throw OAuthError(
                .accessDenied, "third_party_exchange", "Only a first-party client's token buys codes and sessions.")
        }
        if token.isOfFrontChannel { try checkFrontChannel(of: buyer) }
        // An unknown client and another merchant's get the same answer: a token reveals nothing about existing clients.
        guard let receiver, Merchant.same(token.merchant, receiver.merchant) else { throw .foreignMerchant(client) }
        if let redirectURI, receiver.redirectURI(redirectURI) == nil,
            kind != .session || !accounts.isOpen(redirectURI, to: receiver)
        {
            throw .receiver("unregistered_redirect_uri", "The redirectUri is not registered for this clientId.")
        }
        switch kind {
        case .code:
            // Otherwise a third-party receiver would get through the merchant's app what it must ask the user for.
            guard receiver.may(.redeemExchangeCodes) else {
                throw OAuthError(
                    .accessDenied, "third_party_receiver",
                    "The receiving client is not first-party: it must ask the user itself, at /oauth/authorize.")
            }
            guard receiver.takesCodes(boughtWith: token) else {
                throw .receiver(
                    "public_receiver",
                    "The receiving client must be a backend: it has a secret, and no redirect URI in an app's scheme. "
                        + "Or it is the token's own client, SPiD-compatible, with a secret and an https redirect URI; "
                        + "or its public_exchange_codes_from names the token's client.")
            }
            guard !receiver.redirectURIs.isEmpty else {
                throw .receiver("receiver_without_redirect_uri", "The receiving client has no redirect URI.")
            }
            guard receiver.may(.authorizationCode) else {
                throw .receiver("receiver_without_grant", "The receiving client may not use authorization_code.")
            }
            return token.scope.intersection(receiver.scope)
        case .session:
            // The redirect URI of a self-registered client is not reviewed, and the user would arrive there signed in.
            guard receiver.may(.receiveSessions) else {
                throw OAuthError(
                    .accessDenied, "self_registered_receiver", "A self-registered client gets no session code.")
            }
            return token.scope
        }
    }
}

extension Client {
    /// Whether `token` may buy a code for this receiver. An app redeems a code without a server-side secret or a
    /// `code_verifier`, so the code is worth as much as tokens. A front-channel token therefore buys none.
    fileprivate func takesCodes(boughtWith token: AccessToken) -> Bool {
        guard let sources = exchangeCodeSources else { return true }
        return sources.contains(token.client) && !token.isOfFrontChannel
    }
}
