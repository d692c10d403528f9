import Directory
public import Values

/// An authorization response: where the browser takes it, and how.
public enum AuthorizationAnswer: Sendable, Equatable {
    public struct Field: Sendable, Equatable {
        public let name: String
        public let value: String
    }

    /// The browser is redirected to this URL.
    case redirect(String)
    /// The browser posts `fields` to `action`.
    case form(action: String, fields: [Field])
    /// A page posts `fields` as a message to its opener or parent frame, if that has this `origin`.
    case message(origin: String, fields: [Field])
}

/// The contents of an authorization response, as far as the response type asks for them.
public struct FrontChannelResponse: Sendable {
    public var code: Secret<AuthorizationCode>?
    public var tokens: TokenResponse?
    public var idToken: String?

    public init(code: Secret<AuthorizationCode>? = nil, tokens: TokenResponse? = nil, idToken: String? = nil) {
        self.code = code
        self.tokens = tokens
        self.idToken = idToken
    }
}

extension ReturnAddress {
    /// A response with a code.
    public func answer(code: Secret<AuthorizationCode>, issuer: String) -> AuthorizationAnswer {
        answer(FrontChannelResponse(code: code), issuer: issuer)
    }

    /// A response with the contents of `response` (RFC 6749 §4.2.2, OpenID Connect Core §3.2.2.5, §3.3.2.5).
    public func answer(_ response: FrontChannelResponse, issuer: String) -> AuthorizationAnswer {
        var items: [(name: String, value: String)] = []
        if let tokens = response.tokens {
            items += [
                ("access_token", tokens.accessToken.value), ("token_type", "Bearer"),
                ("expires_in", String(tokens.lifetime.seconds)), ("scope", tokens.scope.description),
            ]
        }
        if let code = response.code { items.append(("code", code.value)) }
        if let idToken = response.idToken { items.append(("id_token", idToken)) }
        return answer(items, issuer)
    }

    /// A response without contents: it only returns the browser to the client.
    public func emptyAnswer(issuer: String) -> AuthorizationAnswer { answer([], issuer) }

    /// An error response (RFC 6749 §4.1.2.1).
    public func answer(refusal: OAuthError, issuer: String) -> AuthorizationAnswer {
        answer([("error", refusal.code.rawValue), ("error_description", refusal.hint)], issuer)
    }

    /// The response when the user cancels: the request's own address for that, or an error response.
    public func answer(cancelled: OAuthError, issuer: String) -> AuthorizationAnswer {
        guard let cancelURI else { return answer(refusal: cancelled, issuer: issuer) }
        // SPiD says at which of its pages the user cancelled.
        return .redirect(client.may(.getSPiDAnswers) ? cancelURI.adding([("spid_page", "login")]) : cancelURI.text)
    }

    /// `iss` tells a client of several servers which of them answered (RFC 9207). SPiD's SDKs know one server and build
    /// their own URL from the rest of the redirect, where `iss` would become a parameter of the page.
    private func answer(_ items: [(name: String, value: String)], _ issuer: String) -> AuthorizationAnswer {
        let namesIssuer = !client.may(.omitIssuer) || client.spid.authorizationResponseISS
        let items = items + (state.map { [("state", $0)] } ?? []) + (namesIssuer ? [("iss", issuer)] : [])
        let fields = items.map { AuthorizationAnswer.Field(name: $0.name, value: $0.value) }
        return switch mode {
        case .query: .redirect(redirectURI.adding(items))
        case .fragment: .redirect(redirectURI.adding(items, inFragment: true))
        case .formPost: .form(action: redirectURI.text, fields: fields)
        case .webMessage: .message(origin: redirectURI.origin ?? "", fields: fields)
        }
    }
}
