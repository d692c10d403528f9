import Directory

// `invalid_scope` names the refused scope tokens and what would allow them. They can be repeated in a text: their
// grammar (RFC 6749 §3.3) is that of `error_description`.
extension OAuthError {
    /// The refusal of `refused`, which `client` may not be granted by this request.
    static func scopeTooWide(_ refused: Scope, of client: Client) -> OAuthError {
        OAuthError(
            .invalidScope, "scope_too_wide",
            "\(refused.named) cannot be granted by this request: \(refused.cure(at: client)).",
            detail: "client=\(client.id) scope=\(refused.quoted)")
    }

    /// Nothing is left of a request's scope.
    static func noScopeUnderstood(_ asked: Scope, _ client: Client.ID) -> OAuthError {
        OAuthError(
            .invalidScope, "no_scope_understood",
            "This client is registered for none of the requested scopes (\(asked.quoted)): "
                + (asked.tokens.contains { $0.contains(",") }
                    ? "separate them by spaces, not commas." : "add them to the client's scope."),
            detail: "client=\(client)")
    }
}

extension Scope {
    private static let mostQuoted = 5
    private static let longestQuoted = 64

    /// The tokens in quotes, as far as they are few and short.
    fileprivate var quoted: String {
        tokens.prefix(Self.mostQuoted).map {
            "'\($0.utf8.count > Self.longestQuoted ? $0.prefix(61) + "..." : $0[...])'"
        }
        .joined(separator: ", ") + (tokens.count > Self.mostQuoted ? ", ..." : "")
    }

    fileprivate var named: String { tokens.count == 1 ? "The scope \(quoted)" : "The scopes \(quoted)" }

    /// What would allow the tokens. It does not tell which clients administer.
    fileprivate func cure(at client: Client) -> String {
        guard !administers else { return "client_credentials alone grants an admin scope, to a client that has it" }
        let them = tokens.count == 1 ? "it" : "them"
        guard !tokens.contains(where: { $0.contains(",") }) else { return "scopes are separated by spaces, not commas" }
        guard isSubset(of: client.scope) else { return "add \(them) to the client's scope" }
        guard contains(Self.offlineAccess), !client.may(.refreshToken) else {
            return "the user's permission does not cover \(them); ask for \(them) in a new authorization request"
        }
        return "add refresh_token to the client's grant_types"
    }
}
