import Directory
public import OAuth
public import Values

/// Checks whether a request that names its user means the signed-in user.
public struct RequestedSubject: Sendable {
    private let names: SubjectIdentifiers
    private let hints: IDTokenHints

    public init(names: SubjectIdentifiers, hints: IDTokenHints) {
        self.names = names
        self.hints = hints
    }

    /// Checks `id_token_hint` (Core §3.1.2.1) and a `sub` among the claims (§5.5.1). A request with neither means any
    /// user. Refuses an invalid hint, with or without a user. Also refuses a hint of a client that knows users by other
    /// subjects: the two clients could find out which users they share.
    public func isMeant(_ user: UserID?, by request: AuthorizationRequest) async throws -> Bool {
        var hint: IDTokenHint?
        if let text = request.idTokenHint {
            hint = try await hints.read(text)
            guard let hint, hint.client.knowsUsersAlike(request.returnAddress.client) else {
                throw OAuthError.malformed(
                    .idTokenHint, "an ID token of this server, for this client or one with the same subjects")
            }
        }
        guard let user else { return false }
        if let hint, try await !hint.isAbout(user) { return false }
        guard let subjects = request.authentication.claims?.subjects else { return true }
        return subjects.contains(try await names.subject(user, for: request.returnAddress.client))
    }
}

extension Client {
    /// Whether `other` knows users by the same subjects.
    fileprivate func knowsUsersAlike(_ other: Client) -> Bool {
        openID.subjectType == other.openID.subjectType && (!openID.isPairwise || merchant == other.merchant)
    }
}
