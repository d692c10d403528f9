import Authentication
public import Cryptography
public import Directory
import JSON
import OAuth
public import Storage
public import Values

/// A user as a provider describes them; a new user gets these data.
struct ProviderUser: Sendable {
    /// Set only if the provider itself runs the mailbox, and so knows its reader. Otherwise any user who registers
    /// there with another user's address would become that user here.
    var email: EmailAddress?
    var profile: [JSON.Member] = []

    private static let longestName = 200

    /// Takes over a name that is shown to users: without control characters, and at most 200 bytes.
    mutating func take(_ claim: String, _ value: JSON?) {
        guard let text = value?.string, (1...Self.longestName).contains(text.utf8.count),
            !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
        else { return }
        profile.append(.init(claim, .string(text)))
    }
}

/// Users that a provider's access token leads to: created by it, or linked to it.
public struct ProviderUsers: Sendable {
    private let database: any Database
    private let assertions: ProviderAssertions
    private let clock: any WallClock
    private let random: any RandomSource

    public init(
        database: any Database, assertions: ProviderAssertions, clock: any WallClock, random: any RandomSource
    ) {
        self.database = database
        self.assertions = assertions
        self.clock = clock
        self.random = random
    }

    /// Creates the user of the provider's token in `assertion`, connected to the client `connected`. Nil when there is
    /// one already: the user is linked or has removed the link, or their address is taken. The caller learns no more
    /// than that.
    public func register(
        _ assertion: String, from client: Client, connectedTo connected: Client.ID, by authority: some Authority
    ) async throws -> UserID? {
        let (holder, providerUser) = try await assertions.user(assertion, for: .registration, from: client)
        let user = UserID.random(from: random)
        let now = clock.now
        do {
            let isMade = try await database.write { db in
                try holder.confirm(in: db)
                try authority.confirm(in: db)
                if let link = try IssuerSubjects.find(holder.subject, of: holder.issuer, in: db) {
                    // A retry after a COMMIT with an unknown outcome finds its own link.
                    return link.user == user
                }
                if let email = providerUser.email, try Users.has(email, in: db) { return false }
                guard try !RemovedSignIns.contain(holder.subject, of: holder.issuer, in: db) else {
                    return false
                }
                try Users.insertLinked(
                    user, email: providerUser.email?.ordinary, profile: providerUser.profile,
                    chargedTo: holder.trusted.merchant, at: now, in: db)
                try IssuerSubjects.link(holder.subject, of: holder.issuer, to: user, at: now, in: db)
                try Connections.connect(user, to: connected, at: now, in: db)
                return true
            }
            return isMade ? user : nil
        } catch let refusal as Users.TooManyNew {
            throw OAuthError.tooManyUsers(refusal.wait)
        } catch StorageError.conflict {
            // A concurrent registration of the same user, or of the address, came first.
            return nil
        }
    }

    /// The outcome of `attach`.
    public enum Attachment: Sendable {
        case attached
        /// The provider's token is linked to another user.
        case ofAnother
        /// The user is linked to another account at this provider.
        case hasAnother
        /// The user has removed a link to this provider, and only they can connect it again.
        case removed
    }

    /// Links `user` to the provider's token in `assertion`. `post` queues the mail that tells `user` of a new link, and
    /// joins the transaction. Throws `PasswordSignIn.Refusal.throttled` after many new ones.
    public func attach(
        _ assertion: String, from client: Client, to user: UserID, by authority: some Authority,
        post: (Provider) -> @Sendable (any Transaction) throws -> Void
    ) async throws -> Attachment {
        let holder = try await assertions.holder(assertion, for: .attach, from: client)
        let post = post(holder.provider)
        let now = clock.now
        do {
            return try await database.write { db in
                try holder.confirm(in: db)
                try authority.confirm(in: db)
                if let link = try IssuerSubjects.find(holder.subject, of: holder.issuer, in: db) {
                    return link.user == user ? .attached : .ofAnother
                }
                guard try !RemovedSignIns.has(user, removed: holder.issuer, in: db) else { return .removed }
                guard try !IssuerSubjects.has(user, linkedTo: holder.issuer, in: db) else { return .hasAnother }
                try AttachmentThrottle.charge(user, by: holder.trusted.merchant, at: now, in: db)
                try IssuerSubjects.link(
                    holder.subject, of: holder.issuer, to: user, isConfined: true, at: now, in: db)
                try post(db)
                return .attached
            }
        } catch StorageError.constraint {
            // The user was deleted while the provider was asked.
            throw OAuthError.tokenRefused("user_gone")
        } catch StorageError.conflict {
            // Another request won by the unique key, perhaps of the same user on a second screen.
            return try await database.read { db in
                try IssuerSubjects.find(holder.subject, of: holder.issuer, in: db)?.user == user
                    ? .attached : .ofAnother
            }
        }
    }
}

extension ProviderAssertions.Holder {
    fileprivate func confirm(in db: any Transaction) throws {
        guard try TrustedIssuers.stands(trusted, in: db) else { throw OAuthError.providerUnknown(provider) }
    }
}

/// Redeems a provider's access token: the issuer is still trusted, and the link and its user still exist. Nothing is
/// spent (`ProviderAssertion` says why).
struct ProviderRedemption: Redemption {
    let holder: ProviderAssertions.Holder
    let user: UserID

    func win(_ attempt: Attempt, in db: any Transaction) throws -> RedemptionOutcome {
        guard try TrustedIssuers.stands(holder.trusted, in: db) else { return .changed }
        let link = try IssuerSubjects.find(holder.subject, of: holder.issuer, in: db)
        return link == IssuerSubjects.Link(user: user, isDisabled: false, isLeaving: false) ? .won : .changed
    }
}
