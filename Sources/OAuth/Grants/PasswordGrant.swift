public import Directory
public import Storage
public import Values

/// A user's name and password, given to a trusted app (RFC 6749 §4.3).
public struct PasswordGrant: Grant {
    public static let type = GrantType.password

    /// A user who authenticated, and a check for the minting transaction that this still holds.
    public struct Proof: Sendable {
        let user: UserID
        let signIn: SignIn
        /// Whether the user has proved to own the e-mail address.
        let isVerified: Bool
        let holds: @Sendable (any Transaction) throws -> Bool

        public init(
            user: UserID, signIn: SignIn, isVerified: Bool,
            holds: @escaping @Sendable (any Transaction) throws -> Bool
        ) {
            self.user = user
            self.signIn = signIn
            self.isVerified = isVerified
            self.holds = holds
        }
    }

    /// Authenticates `username`, throttled by the address of `request`. OAuth knows no passwords. Throws an
    /// `OAuthError`.
    public typealias Check =
        @Sendable (
            _ username: String, _ password: String, _ request: TokenRequest, _ client: Client
        ) async throws -> Proof

    private let check: Check

    public init(check: @escaping Check) { self.check = check }

    public func authorize(_ request: TokenRequest, client: Client) async throws -> Authorization {
        let username = try request.parameters.require(.username)
        let password = try request.parameters.require(.password)
        let scope = try client.granted(request.parameters[.scope], within: client.scope.withoutAdministration)
        let proof = try await check(username, password, request, client)
        // Said only to a user who knows the password.
        guard proof.isVerified || !client.requiresVerifiedEmail else { throw OAuthError.unverifiedUser.of(proof.user) }
        return Authorization(
            client: client, subject: Subject(user: proof.user, proof.signIn), scope: scope,
            family: .new(.signIn(proof.signIn)),
            refresh: client.may(.refreshToken) ? .issue : .none,
            redemption: PasswordRedemption(proof: proof, client: client)
        )
    }
}

/// Confirms that the password is unchanged: a new one ends everything, including requests in flight.
struct PasswordRedemption: Redemption {
    let proof: PasswordGrant.Proof
    let client: Client

    func win(_ attempt: Attempt, in db: any Transaction) throws -> RedemptionOutcome {
        guard try proof.holds(db) else { return .refused(.wrongUserCredentials("password_changed_meanwhile")) }
        // Typing a password or a mailed code into a first-party app introduces the user to its merchant.
        if let merchant = client.introduces {
            try Introductions.introduce(proof.user, to: merchant, at: attempt.now, in: db)
        }
        return .won
    }
}
