public import Cryptography
public import Directory
public import Storage
public import Values

/// Signs in users of SPiD's apps by a code that is sent to the user and typed in the app.
public struct Passwordless: Sendable {
    private let verifications: Verifications
    private let mail: MailSignIn
    private let phone: PhoneSignIn
    private let random: any RandomSource

    public init(
        database: any Database, verifications: Verifications, signIn: MailSignIn, clock: any WallClock,
        random: any RandomSource
    ) {
        self.verifications = verifications
        mail = signIn
        phone = PhoneSignIn(database: database, verifications: verifications, clock: clock)
        self.random = random
    }

    /// Where a code is sent.
    public enum Recipient: Sendable, Equatable {
        case mailbox(EmailAddress)
        /// By text message.
        case phone(PhoneNumber)

        /// Whether `text`, as an app got it from its user, means this recipient.
        public func isMeant(by text: String) -> Bool {
            switch self {
            case .mailbox(let email): EmailAddress(text) == email
            case .phone(let number): PhoneNumber(text) == number
            }
        }
    }

    /// A code that is not stored or sent yet.
    public struct Prepared: Sendable {
        public let token: PasswordlessToken
        public let draft: Verifications.Draft
        /// Whether there is a user to send it to. The app is not told.
        public let hasReader: Bool
    }

    /// - Parameter language: the one that the code will be sent in.
    public func prepare(
        _ recipient: Recipient, in language: String, at client: Client
    ) async throws -> Prepared {
        let secret = Secret<Browser>.random(from: random)
        let holder = PasswordlessToken.holder(secret, at: client)
        let (user, draft): (UserID?, Verifications.Draft)
        switch recipient {
        case .mailbox(let email):
            user = try await mail.user(of: email)
            draft = verifications.draft(.signIn, email: email.text, user: user, browser: holder)
        case .phone(let number):
            user = try await phone.user(of: number)
            draft = verifications.draft(.signInByPhone, phone: number, user: user, browser: holder)
        }
        return Prepared(
            token: PasswordlessToken(id: draft.verification.id, secret: secret, language: language), draft: draft,
            hasReader: user != nil)
    }

    /// Where a code for `token` was sent, while it can still be typed. A recipient without a user looks the same.
    public func recipient(of token: PasswordlessToken, at client: Client) async throws -> Recipient? {
        let holder = token.holder(at: client)
        let mailed = try await verifications.awaiting(token.id, .signIn, in: holder)
        let found =
            if let mailed { mailed } else { try await verifications.awaiting(token.id, .signInByPhone, in: holder) }
        return found.flatMap { $0.phone.map { .phone($0) } ?? EmailAddress($0.email).map { .mailbox($0) } }
    }

    /// Takes `code`, which signs in the user of `recipient`.
    public func finish(
        _ token: PasswordlessToken, code: String, of recipient: Recipient, at client: Client, login: Login.Attempt
    ) async throws -> Result<MailSignIn.Proof, Verification.Refusal> {
        let key = VerificationKey.code(code, of: token.id, in: token.holder(at: client))
        return switch recipient {
        case .mailbox: try await mail.prove(key, by: client, login: login)
        case .phone: try await phone.prove(key, by: client, login: login)
        }
    }
}
