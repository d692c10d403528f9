import Values

/// A person's name and password, given to a trusted app (RFC 6749 §4.3).
public struct PasswordGrant: Grant {
    public static let type = GrantType.password

    /// Proves who `username` is, throttling by address; people live elsewhere. Throws an `OAuthError`.
    public typealias Check = @Sendable (_ username: String, _ password: String, _ address: String) async throws -> Subject

    private let check: Check

    public init(check: @escaping Check) { self.check = check }

    public func authorize(_ request: TokenRequest, client: Client) async throws -> Authorization {
        let username = try request.parameters.require(.username)
        let password = try request.parameters.require(.password)
        let scope = try client.granted(request.parameters[.scope], within: client.scope.withoutAdministration)
        let subject = try await check(username, password, request.address)
        return Authorization(
            client: client, subject: subject, scope: scope, family: .new(parent: nil),
            refresh: client.may(.refreshToken) ? .issue : .none, claim: NoClaim())
    }
}
