public import OAuth
public import Values

/// Finds out whether a request that says whom it is about means the person who is there.
public struct RequestedSubject: Sendable {
    private let names: SubjectIdentifiers
    private let hints: IDTokenHints

    public init(names: SubjectIdentifiers, hints: IDTokenHints) {
        self.names = names
        self.hints = hints
    }

    /// By `id_token_hint` (Core §3.1.2.1) and a `sub` among the claims (§5.5.1). Nobody is meant by neither of them. A
    /// hint that is none is refused, whoever is there.
    public func isMeant(_ user: UserID?, by request: AuthorizationRequest) async throws -> Bool {
        var hint: IDTokenHint?
        if let text = request.idTokenHint {
            hint = try await hints.read(text)
            guard hint != nil else { throw OAuthError.malformed(.idTokenHint, "an ID token of this server") }
        }
        guard let user else { return false }
        if let hint, try await !hint.isAbout(user) { return false }
        guard let subjects = request.authentication.claims?.subjects else { return true }
        return subjects.contains(try await names.subject(user, for: request.returnAddress.client))
    }
}
