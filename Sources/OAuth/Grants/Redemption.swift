public import Directory
public import Storage
public import Values

/// What must be won in the transaction that stores the tokens: this code unspent, this refresh token current.
public protocol Redemption: Sendable {
    /// Wins by a guarded UPDATE or INSERT, or says why not. A refusal is returned, never thrown, so that what it
    /// records (a replay that revokes) is committed with it.
    func win(_ attempt: Attempt, in db: any Transaction) throws -> RedemptionOutcome
}

/// One try to mint. Its id is stored by the claim, so that a closure that runs again after a COMMIT of unknown
/// outcome knows its own work.
public struct Attempt: Sendable {
    public let id: String
    /// The permission the tokens will belong to, if they will have one.
    public let family: TokenFamily.ID?
    /// The access token to be stored, if one will be.
    public let accessToken: Fingerprint<AccessToken>?
    public let now: Timestamp

    public init(
        id: String, family: TokenFamily.ID?, accessToken: Fingerprint<AccessToken>? = nil, now: Timestamp
    ) {
        self.id = id
        self.family = family
        self.accessToken = accessToken
        self.now = now
    }
}

public enum RedemptionOutcome: Sendable {
    case won
    /// This very attempt won before: everything is stored.
    case wonBefore
    /// The state the grant saw has changed: ask the grant again.
    case changed
    case refused(OAuthError)
    /// What gives tokens once was used again: what it gave is in two hands, and ends.
    case replayed(OAuthError, ending: TokenFamily.ID)
}

/// The claim of a grant that spends nothing.
public struct NothingToRedeem: Redemption {
    public init() {}
    public func win(_ attempt: Attempt, in db: any Transaction) -> RedemptionOutcome { .won }
}

/// The claim on a one-time code: it is spent in time and only once; a second try revokes what came of the first.
struct CodeRedemption: Redemption {
    enum Code: Sendable {
        case authorization(Fingerprint<AuthorizationCode>)
        case exchange(Fingerprint<ExchangeCode>)
    }
    let code: Code

    func win(_ attempt: Attempt, in db: any Transaction) throws -> RedemptionOutcome {
        let won =
            switch code {
            case .authorization(let code): try AuthorizationCodes.spend(code, for: attempt, in: db)
            case .exchange(let code): try ExchangeCodes.spend(code, for: attempt, in: db)
            }
        guard !won else { return .won }
        let row =
            switch code {
            case .authorization(let code):
                try db.rows("SELECT spent_by, family_id FROM authorization_codes WHERE fingerprint = \(code)").first
            case .exchange(let code):
                try db.rows("SELECT spent_by, family_id FROM exchange_codes WHERE fingerprint = \(code)").first
            }
        guard let row, let spentBy: String = try row.get("spent_by", as: String?.self) else {
            return .refused(.codeRefused("code_expired_or_source_ended"))
        }
        guard spentBy != attempt.id else { return .wonBefore }
        // RFC 6749 §4.1.2 and §10.5: the code may be in the wrong hands, so what it gave is taken back.
        guard let family: TokenFamily.ID = try row.get("family_id", as: TokenFamily.ID?.self) else {
            return .refused(.codeRefused("code_replayed"))
        }
        return .replayed(.codeRefused("code_replayed"), ending: family)
    }
}
