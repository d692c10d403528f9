public import Audit
public import Cryptography
public import Directory
public import JSON
public import OAuth
public import Storage
public import Values

/// Who administers: the command line, or a client by the scope of its own tokens (`AdministratorRoles`). Its reach is
/// the whole deployment, or the client's merchant; its roles say what it may do there. What of a merchant is still the
/// platform's alone stands in the `permit` functions of this module.
public enum Administrator: Authority {
    case commandLine
    case platform(Access)
    case merchant(Merchant.ID, Access)

    /// The token that a client presented, the roles that it gives, and what its requests are checked by.
    public struct Access: Sendable {
        let token: AccessToken
        let roles: AdministratorRoles
        let tokens: AccessTokens
        let addresses: AddressRules
        /// What else must hold in each of its changes.
        var conditions: [Condition] = []
    }

    /// Throws unless a change may be made, in its transaction, before anything is changed.
    public typealias Condition = @Sendable (any Transaction) throws -> Void

    /// The same administrator, of whose changes `condition` must hold too.
    public func on(_ condition: @escaping Condition) -> Administrator {
        guard var access else { return self }
        access.conditions.append(condition)
        return confines.map { .merchant($0, access) } ?? .platform(access)
    }

    /// The administrator that presents `token`, stored by `tokens`: a client's own token with an admin scope. A user's
    /// token never makes an administrator, whatever its scope is.
    public init(_ token: AccessToken, of tokens: AccessTokens, addresses: AddressRules) throws(OAuthError) {
        guard token.user == nil else {
            throw OAuthError(
                .insufficientScope, "user_administers", "Administration requires a client_credentials token.")
        }
        // The token's scope is not enough: the client may have lost it since.
        let scope = token.scope.intersection(token.clientScope)
        let roles = AdministratorRoles(scope, ofMerchant: token.merchant != nil)
        guard !roles.isEmpty else { throw OAuthError.scopeMissing(Scope.admin) }
        let access = Access(token: token, roles: roles, tokens: tokens, addresses: addresses)
        self = token.merchant.map { .merchant($0, access) } ?? .platform(access)
    }

    /// Throws when the administrator has lost its rights, or some of them, since the token was read.
    public func confirm(in db: any Transaction) throws {
        guard let access else { return }
        let again = try Administrator(
            try access.tokens.again(access.token, in: db), of: access.tokens, addresses: access.addresses)
        guard again.confines == confines, again.roles.isSuperset(of: roles) else { throw scopeMissing(for: roles) }
        for condition in access.conditions { try condition(db) }
    }

    public var actor: Actor {
        guard let access else { return Actor(.command) }
        return Actor(.client(access.token.client), of: confines?.text)
    }

    /// Throws unless the administrator has one of `roles`, which `act` needs: "make a client".
    public func require(_ roles: AdministratorRoles, to act: String) throws {
        guard self.roles.isDisjoint(with: roles) else { return }
        guard confines == nil || !roles.isDisjoint(with: .ofMerchants) else {
            throw AdministrationRefusal("Only the platform's administrator may \(act).")
        }
        throw scopeMissing(for: roles)
    }

    /// Settings, and new users, are for administrators: support and audit change none.
    func requireAdministrator() throws(OAuthError) {
        guard !isAdministrator else { return }
        throw scopeMissing(for: .administrators)
    }

    /// Whether it administers, and does more than help or look.
    public var isAdministrator: Bool { !roles.isDisjoint(with: .administrators) }

    private func scopeMissing(for roles: AdministratorRoles) -> OAuthError {
        .scopeMissing(roles.scope(ofMerchant: confines != nil) ?? Scope.admin)
    }

    /// The command line has them all.
    public var roles: AdministratorRoles { access?.roles ?? .all }

    /// The merchant that it is confined to; nil for the platform.
    var confines: Merchant.ID? { if case .merchant(let id, _) = self { id } else { nil } }

    var access: Access? {
        switch self {
        case .commandLine: nil
        case .platform(let access), .merchant(_, let access): access
        }
    }

    /// Whose turns its changes take: its merchant's, or the platform's.
    public var requester: Requester { .of(confines).asked(by: access?.token.client.text ?? "") }

    /// Whether its changes of users take turns, because one write may queue messages to a hundred clients. The
    /// platform's take none: hashing a password would keep others waiting.
    public var takesTurnsForUsers: Bool { confines != nil }

    /// Whether the administrator may see and change what belongs to `merchant`.
    public func covers(_ merchant: Merchant.ID?) -> Bool {
        confines.map { Merchant.same($0, merchant) } ?? true
    }

    /// The items of `list` for the merchant `named`, for the administrator's own, or for all when both are nil. Empty
    /// for another merchant.
    public func listing<Item>(
        of named: Merchant.ID? = nil, _ list: (Merchant.ID?) async throws -> [Item]
    ) async rethrows -> [Item] {
        let merchant = named ?? confines
        return try await merchant == nil || covers(merchant) ? list(merchant) : []
    }

    /// The merchant for which something is made: the one that `json` names, or the administrator's own. `what` says in
    /// a refusal what is made.
    public func merchant(_ json: JSON, toMake what: String) throws -> Merchant.ID {
        let named = try JSONMembers(json).text("merchant_id").map { Merchant.ID($0) }
        guard let merchant = named ?? confines else { throw JSONFault("merchant_id", "given") }
        guard covers(merchant) else {
            throw AdministrationRefusal("You may make \(what) of your own merchant only.", member: "merchant_id")
        }
        return merchant
    }

    func requirePlatform(_ what: String) throws {
        try requireAdministrator()
        guard confines == nil else {
            throw AdministrationRefusal("Only the platform's administrator may \(what).")
        }
    }

    /// The platform may have disabled it, against this very merchant.
    func permit(enabling: Bool) throws {
        try leaveToPlatform(enabling, "Only the platform may enable what is disabled.", member: "disabled")
    }

    /// Refuses a merchant's administrator a change that only the platform may make; `isAsked` says whether it is asked
    /// for.
    func leaveToPlatform(_ isAsked: Bool, _ detail: String, member: String) throws {
        guard confines == nil || !isAsked else { throw AdministrationRefusal(detail, member: member) }
    }

    /// Refuses a merchant's administrator one more of `what` than it may make: rows that cost the merchant nothing
    /// could fill the shared database. `hasRoom` counts the one just stored.
    func confirmRoom(
        for what: String, atMost most: Int, in db: any Transaction,
        _ hasRoom: (Merchant.ID, any Transaction) throws -> Bool
    ) throws {
        guard let confines, try !hasRoom(confines, db) else { return }
        throw AdministrationRefusal(
            "The merchant has \(most) \(what): delete one first, or ask the platform.", isConflict: true)
    }
}

extension Administrator {
    /// What a change by modules that know no authority runs in its transaction: throws unless the administrator may
    /// still make it, and stores the event `kind`.
    public func writing(
        _ kind: AuditEvent.Kind, on subject: Party, of user: UserID? = nil, at now: Timestamp,
        _ random: any RandomSource
    ) -> @Sendable (any Transaction) throws -> Void {
        let trail = AuditTrail(by: actor, at: now, random: random)
        return { db in
            try confirm(in: db)
            try trail.record(kind, on: subject, of: user, in: db)
        }
    }
}

/// Something that an administrator may not do, although they may do other things.
public struct AdministrationRefusal: Error, Sendable {
    public let detail: String
    /// The member of the document that is at fault.
    public let member: String?
    /// Whether the present state refuses it, and not the lack of a right.
    public let isConflict: Bool

    init(_ detail: String, member: String? = nil, isConflict: Bool = false) {
        self.detail = detail
        self.member = member
        self.isConflict = isConflict
    }
}
