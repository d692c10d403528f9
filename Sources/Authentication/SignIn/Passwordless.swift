public import Cryptography
public import Directory
public import Values

/// Signs users in in an app, by a code that is mailed to them: for SPiD's apps, which ask for the code themselves.
public struct Passwordless: Sendable {
    private let verifications: Verifications
    private let signIn: MailSignIn
    private let random: any RandomSource

    public init(verifications: Verifications, signIn: MailSignIn, random: any RandomSource) {
        self.verifications = verifications
        self.signIn = signIn
        self.random = random
    }

    /// A code that is not stored or mailed yet.
    public struct Prepared: Sendable {
        public let token: PasswordlessToken
        public let draft: Verifications.Draft
        /// Whether there is a user to send it to. The app is not told.
        public let hasReader: Bool
    }

    public func prepare(_ email: EmailAddress, at client: Client.ID) async throws -> Prepared {
        let secret = Secret<Browser>.random(from: random)
        let user = try await signIn.user(of: email)
        let draft = verifications.draft(
            .signIn, email: email.text, user: user, browser: PasswordlessToken.holder(secret, at: client))
        return Prepared(
            token: PasswordlessToken(id: draft.verification.id, secret: secret), draft: draft, hasReader: user != nil)
    }

    /// The address that a code for `token` was asked for, while it can still be typed. One without a user looks the
    /// same.
    public func address(of token: PasswordlessToken, at client: Client.ID) async throws -> EmailAddress? {
        try await verifications.awaiting(token.id, .signIn, in: token.holder(at: client)).flatMap {
            EmailAddress($0.email)
        }
    }

    /// Takes `code`, which signs in the user of the address that `token` is for.
    public func finish(
        _ token: PasswordlessToken, code: String, at client: Client.ID, login: Login.Attempt
    ) async throws -> Result<MailSignIn.Proof, Verification.Refusal> {
        try await signIn.prove(.code(code, of: token.id, in: token.holder(at: client)), login: login)
    }
}
