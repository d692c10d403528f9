public import Directory
public import Storage
public import Values

/// What must be won in the transaction that stores the tokens, such as an unspent code or a current refresh token.
public protocol Redemption: Sendable {
    /// Wins by a guarded UPDATE or INSERT, or says why not. Returns refusals instead of throwing them, so that what
    /// they record (a replay that revokes) is committed too.
    func win(_ attempt: Attempt, in db: any Transaction) throws -> RedemptionOutcome

    /// Whether the row that `win` changes or holds decides alone (`Database.guardedWrite`), also when a new family is
    /// stored.
    func isDecidedByOneRow(withNewFamily: Bool) -> Bool

    /// All that `win` does, as statements that need no answer in between; nil where it has to look in between.
    func statements(_ attempt: Attempt) -> RedemptionStatements?
}

extension Redemption {
    public func isDecidedByOneRow(withNewFamily: Bool) -> Bool { false }
    public func statements(_ attempt: Attempt) -> RedemptionStatements? { nil }
}

/// A redemption as a list of statements. They are sent together with those that store the token (`Database.change`), or
/// run one by one in a transaction (`win`).
public enum RedemptionStatements: Sendable {
    /// The token is stored if a condition holds; nil is always.
    case storing(when: SQL?)
    /// `first` changes a row if this attempt wins. `decided` holds only then, and guards the statements of `next` and
    /// `hold`, which holds a row against concurrent transactions (`Transaction.hold`).
    case changing(
        first: SQL, decided: SQL, hold: (@Sendable (_ decided: SQL) -> SQL)? = nil,
        next: @Sendable (_ decided: SQL?) -> [SQL] = { _ in [] })

    /// Runs them in a transaction. False if the condition does not hold or `first` changed nothing.
    func win(in db: any Transaction) throws -> Bool {
        switch self {
        case .storing(let condition):
            return try condition.map { try !db.rows("SELECT 1 AS found WHERE \($0)").isEmpty } ?? true
        case .changing(let first, _, let hold, let next):
            guard try db.execute(first) == 1 else { return false }
            if let hold { try db.hold(hold(.always)) }
            for sql in next(nil) { try db.enqueue(sql) }
            return true
        }
    }
}

/// One attempt to mint. The redemption stores its id, so that a closure that runs again after a COMMIT of unknown
/// outcome recognizes its own work.
public struct Attempt: Sendable {
    public let id: String
    /// The token family of the tokens, if they have one.
    public let family: TokenFamily.ID?
    /// That family, if it is not stored yet.
    let newFamily: NewTokenFamily?
    /// The access token to be stored, if there is one.
    public let accessToken: Fingerprint<AccessToken>?
    public let now: Timestamp

    public init(
        id: String, family: TokenFamily.ID?, accessToken: Fingerprint<AccessToken>? = nil, now: Timestamp
    ) {
        self.init(id: id, family: family, newFamily: nil, accessToken: accessToken, now: now)
    }

    init(
        id: String, family: TokenFamily.ID?, newFamily: NewTokenFamily?, accessToken: Fingerprint<AccessToken>?,
        now: Timestamp
    ) {
        self.id = id
        self.family = family
        self.newFamily = newFamily
        self.accessToken = accessToken
        self.now = now
    }

    /// True for one attempt in 256, by its random id: for upkeep that not every request should pay for.
    var isSampled: Bool { Self.isSampled(id) }

    static func isSampled(_ id: String) -> Bool { id.hasPrefix("A") && ("A"..."P").contains(id.dropFirst().prefix(1)) }
}

public enum RedemptionOutcome: Sendable {
    case won
    /// This attempt won before: everything is stored.
    case wonBefore
    /// Won by a code that was spent before and may be spent once more: the earlier tokens end.
    case wonAgain(ending: TokenFamily.ID)
    /// The state that the grant read has changed: run the grant again.
    case changed
    case refused(OAuthError)
    /// A code or refresh token was used again, so two parties hold it: everything it gave ends.
    case replayed(OAuthError, ending: TokenFamily.ID)
}

/// The redemption of a grant that spends nothing.
public struct NothingToRedeem: Redemption {
    public init() {}
    public func statements(_ attempt: Attempt) -> RedemptionStatements? { .storing(when: nil) }
    public func win(_ attempt: Attempt, in db: any Transaction) -> RedemptionOutcome { .won }
}

/// Spends a one-time code before it expires. A second attempt revokes what the first one got. Where the client may
/// repeat a code, the second attempt gets new tokens and the third revokes.
struct CodeRedemption: Redemption {
    enum Code: Sendable {
        case authorization(Fingerprint<AuthorizationCode>)
        /// `from`: the clients with whose tokens it may have been bought.
        case exchange(ExchangeCode, from: [Client.ID]?)
    }
    let code: Code
    /// Whether an authorization code may be spent once more while it lives (`SPiDSettings.codesRedeemedTwice`).
    var mayRepeat = false
    /// What rests on the user's consent, for a third-party client.
    var consent: ConsentNeeded?

    /// An exchange code depends on the token family that bought it, whose row is held.
    func isDecidedByOneRow(withNewFamily: Bool) -> Bool { if case .exchange = code { true } else { false } }

    func statements(_ attempt: Attempt) -> RedemptionStatements? {
        guard case .exchange(let code, let from) = code, let spending = code.spending(for: attempt, from: from) else {
            return nil
        }
        return .changing(
            first: spending, decided: code.isSpent(by: attempt), hold: { code.holdingSource(when: $0) })
    }

    func win(_ attempt: Attempt, in db: any Transaction) throws -> RedemptionOutcome {
        let won =
            switch code {
            case .authorization(let code):
                try (consent?.isGiven(in: db) ?? true) && AuthorizationCodes.spend(code, for: attempt, in: db)
            case .exchange: try statements(attempt)?.win(in: db) ?? false
            }
        guard !won else { return .won }
        guard let spent = try spent(in: db) else {
            return .refused(.codeRefused("code_expired_or_source_ended"))
        }
        guard spent.by != attempt.id else { return .wonBefore }
        if mayRepeat, case .authorization(let code) = code, let family = spent.family,
            try AuthorizationCodes.spendAgain(code, after: spent.by, for: attempt, in: db)
        {
            return .wonAgain(ending: family)
        }
        // RFC 6749 §4.1.2 and §10.5: the code may have been stolen, so the tokens from it are revoked.
        guard let family = spent.family, isRemembered(at: attempt.now) else {
            return .refused(.codeRefused("code_replayed"))
        }
        return .replayed(.codeRefused("code_replayed"), ending: family)
    }

    /// Whether a replay still revokes. An exchange code's family may live on for long, and a code found in an old log
    /// must not end a user's sign-in.
    private func isRemembered(at now: Timestamp) -> Bool {
        guard case .exchange(let code, _) = code else { return true }
        return now < code.expiresAt + AuthorizationCodes.memory
    }

    /// Which attempt spent the code last, and the token family that it got.
    private func spent(in db: any Transaction) throws -> (by: String, family: TokenFamily.ID?)? {
        let row =
            switch code {
            case .authorization(let code):
                try db.rows("SELECT spent_by, family_id FROM authorization_codes WHERE fingerprint = \(code)").first
            case .exchange(let code, _):
                try db.rows(
                    "SELECT redeemed_by AS spent_by, id AS family_id FROM token_families WHERE id = \(code.family)"
                ).first
            }
        guard let row, let by = try row.get("spent_by", as: String?.self) else { return nil }
        return (by, try row.get("family_id", as: TokenFamily.ID?.self))
    }
}
