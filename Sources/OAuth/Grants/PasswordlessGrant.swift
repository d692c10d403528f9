public import Directory
import Values

/// A code that was sent to a user by mail or text message, who types it in a SPiD-compatible app: SPiD's grant at
/// `/oauth/ro`.
public struct PasswordlessGrant: Grant {
    public static let type = GrantType.passwordless

    /// What an app returns of it.
    public struct Returned: Sendable {
        /// The token that the app got when it asked for the mail.
        public let token: String
        public let code: String
        /// The e-mail address or phone number that the app believes the user to have.
        public let identifier: String?
    }

    /// Takes the code, once. OAuth knows no mails. Throws an `OAuthError`.
    public typealias Check =
        @Sendable (_ returned: Returned, _ request: TokenRequest, _ client: Client) async throws -> PasswordGrant.Proof

    private let check: Check

    public init(check: @escaping Check) { self.check = check }

    public func authorize(_ request: TokenRequest, client: Client) async throws -> Authorization {
        // Everything else is checked before the code, which can be taken once.
        guard client.may(.mailCodes) else { throw OAuthError.grantNotAllowed(client.id) }
        let returned = Returned(
            token: try request.parameters.require(.passwordlessToken), code: try request.parameters.require(.code),
            identifier: request.parameters[.identifier])
        let scope = try client.granted(request.parameters[.scope], within: client.scope.withoutAdministration)
        let proof = try await check(returned, request, client)
        // A verified phone number does not verify the e-mail address.
        guard proof.isVerified || !client.requiresVerifiedEmail else { throw OAuthError.unverifiedUser.of(proof.user) }
        return Authorization(
            client: client, subject: Subject(user: proof.user, proof.signIn), scope: scope,
            family: .new(.signIn(proof.signIn)),
            refresh: client.may(.refreshToken) ? .issue : .none,
            redemption: PasswordRedemption(proof: proof, client: client)
        )
    }
}
