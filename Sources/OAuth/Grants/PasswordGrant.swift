public import Directory
public import Storage
import Values

/// A person's name and password, given to a trusted app (RFC 6749 §4.3).
public struct PasswordGrant: Grant {
    public static let type = GrantType.password

    /// Who somebody proved to be, and whether that still holds in the transaction that mints.
    public struct Proof: Sendable {
        let subject: Subject
        /// Whether the person has shown that they read their address.
        let isVerified: Bool
        let holds: @Sendable (any Transaction) throws -> Bool

        public init(
            subject: Subject, isVerified: Bool, holds: @escaping @Sendable (any Transaction) throws -> Bool
        ) {
            self.subject = subject
            self.isVerified = isVerified
            self.holds = holds
        }
    }

    /// Proves who `username` is, throttling by the address of `request`; people live elsewhere. Throws an `OAuthError`.
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
        // Told only to who knows the password.
        guard proof.isVerified || !client.requiresVerifiedEmail else { throw OAuthError.unverifiedUser }
        return Authorization(
            client: client, subject: proof.subject, scope: scope, family: .new(parent: nil),
            refresh: client.may(.refreshToken) ? .issue : .none, claim: PasswordRedemption(proof: proof, client: client)
        )
    }
}

/// The claim that the password is still the password: a new one ends everything, also what is in flight.
private struct PasswordRedemption: Redemption {
    let proof: PasswordGrant.Proof
    let client: Client

    func win(_ attempt: Attempt, in db: any Transaction) throws -> RedemptionOutcome {
        guard try proof.holds(db) else { return .refused(.wrongUserCredentials("password_changed_meanwhile")) }
        // Whoever types the password in a merchant's own app knows whose it is.
        if let merchant = client.introduces {
            try Introductions.introduce(proof.subject.user, to: merchant, at: attempt.now, in: db)
        }
        return .won
    }
}
