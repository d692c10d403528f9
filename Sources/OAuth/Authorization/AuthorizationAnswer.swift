public import Values

/// What the browser brings to the client: where, and how.
public enum AuthorizationAnswer: Sendable, Equatable {
    public struct Field: Sendable, Equatable {
        public let name: String
        public let value: String
    }

    /// The browser goes there.
    case redirect(String)
    /// The browser posts `fields` there.
    case form(action: String, fields: [Field])
}

extension ReturnAddress {
    /// The answer that brings a code.
    public func answer(code: Secret<AuthorizationCode>, issuer: String) -> AuthorizationAnswer {
        answer([("code", code.value)], issuer)
    }

    /// The answer that brings the browser back, and nothing with it.
    public func emptyAnswer(issuer: String) -> AuthorizationAnswer { answer([], issuer) }

    /// The answer that brings a refusal (RFC 6749 §4.1.2.1).
    public func answer(refusal: OAuthError, issuer: String) -> AuthorizationAnswer {
        answer([("error", refusal.code.rawValue), ("error_description", refusal.hint)], issuer)
    }

    /// The answer to a person who wants none of it: the address for that, as it stands, or a refusal.
    public func answer(cancelled: OAuthError, issuer: String) -> AuthorizationAnswer {
        cancelURI.map { .redirect($0.text) } ?? answer(refusal: cancelled, issuer: issuer)
    }

    /// `iss` tells a client that talks to several servers which of them answered (RFC 9207).
    private func answer(_ items: [(name: String, value: String)], _ issuer: String) -> AuthorizationAnswer {
        let items = items + (state.map { [("state", $0)] } ?? []) + [("iss", issuer)]
        return switch mode {
        case .query: .redirect(redirectURI.adding(items))
        case .fragment: .redirect(redirectURI.adding(items, inFragment: true))
        case .formPost: .form(action: redirectURI.text, fields: items.map { .init(name: $0.name, value: $0.value) })
        }
    }
}
