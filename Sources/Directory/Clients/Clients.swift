import Audit
public import Cryptography
public import JSON
public import Keys
public import Storage
public import Values

/// The clients of this server.
public struct Clients: Sendable {
    package let database: any Database
    package let clock: any WallClock
    let random: any RandomSource
    package let seal: Seal
    let known: KnownClients
    let erasure: BulkErasure
    let sessions: Sessions
    let names = MerchantNames()

    /// `erasure` knows every table that holds data of a client.
    public init(
        database: any Database, clock: any WallClock, random: any RandomSource, seal: Seal, known: KnownClients,
        erasure: BulkErasure, sessions: Sessions
    ) {
        self.sessions = sessions
        self.erasure = erasure
        self.database = database
        self.clock = clock
        self.random = random
        self.seal = seal
        self.known = known
    }

    static let columns: SQL.Columns = """
        clients.id, clients.merchant_id, clients.name, clients.redirect_uris, clients.grant_types, clients.scope, \
        clients.authentication_method, clients.custody, clients.first_party, clients.spid_compatible, \
        clients.rotates_refresh_tokens, clients.access_token_lifetime, clients.refresh_token_lifetime, \
        clients.refresh_family_lifetime, clients.refresh_repeat_window, clients.refresh_leeway, \
        clients.requires_pkce, clients.web_origins, clients.post_logout_redirect_uris, clients.callback_uri, \
        clients.requires_verified_email, clients.signs_responses, clients.terms_uri, clients.terms_changed_at, \
        clients.openid, clients.spid, clients.sealed_sign_secret, \
        CASE WHEN clients.registration_token IS NULL THEN 0 ELSE 1 END AS registered_itself, clients.scope_limit, \
        clients.grant_limit, clients.created_at, clients.updated_at, clients.used_at, clients.disabled_at, \
        clients.secret_ended_at, clients.identity_changed_at
        """

    /// A new client with its secrets, which are shown once.
    public struct Registered: Sendable {
        public let client: Client
        public let secret: Secret<Client>?
        public let signSecret: Secret<Client>
    }

    /// Registers a client of `merchant`, or of the platform if that is nil. Without `chosen` the id is random, and the
    /// secret without `secret`. Unless `isKept` is false, throws a `JSONFault` if another client has the chosen id, or
    /// had it recently.
    public func register(
        _ metadata: ClientMetadata, as chosen: Client.ID? = nil, secret given: Secret<Client>? = nil,
        isKept: Bool = true, merchant: Merchant.ID?, by authority: some ClientAuthority
    ) async throws -> Registered {
        guard !authority.isClientItself || metadata.openID.idTokenAlgorithm != .signSecret else {
            throw JSONFault.sharedSecretOfSelfRegistered
        }
        let now = clock.now
        let id = chosen ?? .random(from: random)
        let signSecret = Secret<Client>.random(from: random)
        let client = Client(
            id: id, kind: ClientKind(metadata, at: merchant, registeredItself: authority.isClientItself),
            name: metadata.name, redirectURIs: metadata.redirectURIs,
            grantTypes: metadata.grantTypes, scope: metadata.scope, authentication: metadata.authentication,
            rotatesRefreshTokens: metadata.rotatesRefreshTokens, accessTokenLifetime: metadata.accessTokenLifetime,
            refreshTokenLifetime: metadata.refreshTokenLifetime,
            refreshFamilyLifetime: metadata.refreshFamilyLifetime, refreshRepeatWindow: metadata.refreshRepeatWindow,
            chosenRefreshLeeway: metadata.chosenRefreshLeeway,
            requiresPKCE: metadata.requiresPKCE ?? !(metadata.spidCompatible || authority.isClientItself),
            webPages: metadata.webPages,
            postLogoutRedirectURIs: metadata.postLogoutRedirectURIs, callbackURI: metadata.callbackURI,
            requiresVerifiedEmail: metadata.requiresVerifiedEmail, signsResponses: metadata.signsResponses,
            termsURI: metadata.termsURI, termsChangedAt: metadata.termsURI == nil ? nil : now,
            openID: metadata.openID, spid: metadata.spid,
            sealedSignSecret: seal.seal(signSecret.value, .signSecret, row: id.text),
            createdAt: now, updatedAt: now, disabledAt: nil)
        let secret = client.authentication.takesSecret ? given ?? .random(from: random) : nil
        let secretID = ClientSecret.ID.random(from: random)
        if authority.reservedNames != nil { try await names.learn(from: database) }
        let trail = AuditTrail(by: authority.actor, at: now, random: random)
        try await database.write { [seal, names] db in
            try authority.confirm(in: db)
            try seal.confirm(in: db)
            if chosen != nil { try Self.confirm(id, for: client, isKept: isKept, in: db) }
            try names.permit(client, after: nil, besides: authority.reservedNames, in: db)
            try Self.insert(client, in: db)
            try ClientResources.note(client, after: nil, lends: authority.lendsResources, in: db)
            try ClientRedirectURIs.note(client, after: nil, in: db)
            try client.confirmSources(after: nil, in: db)
            if let secret { try Self.insert(secret, id: secretID, of: id, at: now, in: db) }
            try authority.permit(making: client, in: db)
            try trail.record(
                "client.created", on: .client(id), merchant: merchant?.text, client: id.text, after: client.json, in: db
            )
        }
        if !metadata.sessionHosts.isEmpty { known.forget(id, hosts: true) }
        // A client that signs with a secret uses the sign secret, and expects it as `client_secret`.
        let shown = client.authentication == .secretJWT ? signSecret : secret
        return Registered(client: client, secret: shown, signSecret: signSecret)
    }

    /// Throws when no client can be made with the chosen `id`.
    private static func confirm(
        _ id: Client.ID, for client: Client, isKept: Bool, in db: any Transaction
    ) throws {
        if isKept, let end = try TakenNames.end(ofClient: id, at: client.createdAt, in: db) {
            throw JSONFault("id", "another id until \(end.iso8601): it belonged to a deleted client that had tokens")
        }
        // A retry after a COMMIT of unknown outcome finds its own row; any other row is in the way.
        let taken = try db.rows("SELECT sealed_sign_secret FROM clients WHERE id = \(id)").first
        guard try taken.map({ try $0.get("sealed_sign_secret") == client.sealedSignSecret }) ?? true else {
            throw JSONFault("id", "an id that no client has")
        }
        // Otherwise the subject of the client's own tokens would be a user's.
        guard try User.id(ofSubject: id.text, in: db) == nil else { throw JSONFault("id", "no user's sub") }
    }

    /// How many clients a merchant's administrators may make, and how many may register themselves in addition. Some
    /// reads go over all clients, so their number is limited.
    public static let mostOfMerchant = 1000

    /// Whether `merchant` has at most as many clients as its administrators may make, including the one just stored.
    /// Self-registered clients do not count.
    public static func hasRoom(_ merchant: Merchant.ID, in db: any Transaction) throws -> Bool {
        try db.rows(
            """
            SELECT id FROM clients
            WHERE merchant_id = \(merchant) AND deleted_at IS NULL AND \(isOfMerchant)
            ORDER BY id LIMIT 1 OFFSET \(mostOfMerchant)
            """
        ).isEmpty
    }

    /// The same for self-registered clients.
    public static func hasRoomForRegistration(_ merchant: Merchant.ID, in db: any Transaction) throws -> Bool {
        try db.rows(
            """
            SELECT id FROM clients
            WHERE merchant_id = \(merchant) AND deleted_at IS NULL AND NOT \(isOfMerchant)
            ORDER BY id LIMIT 1 OFFSET \(mostOfMerchant)
            """
        ).isEmpty
    }

    /// How many clients of a merchant may have a `callback_uri`, unless the platform makes more. Each change of a user
    /// stores a message for each of them in its own transaction, and on SQLite all other writes wait for that.
    public static let mostToldOfMerchant = 100

    /// Whether `merchant` has no more of them, including the one just stored.
    public static func hasRoomForCallback(_ merchant: Merchant.ID, in db: any Transaction) throws -> Bool {
        try db.rows(
            """
            SELECT id FROM clients
            WHERE merchant_id = \(merchant) AND deleted_at IS NULL AND callback_uri IS NOT NULL
            ORDER BY id LIMIT 1 OFFSET \(mostToldOfMerchant)
            """
        ).isEmpty
    }

    public func find(_ id: Client.ID) async throws -> Client? {
        try await database.read { db in try Self.find(id, in: db) }
    }

    /// Whether neither the client nor its merchant is being deleted: their rows stay for a while.
    private static let areThere: SQL =
        """
        deleted_at IS NULL
            AND NOT EXISTS (SELECT 1 FROM merchants m WHERE m.id = clients.merchant_id AND m.deleted_at IS NOT NULL)
        """

    package static func find(_ id: Client.ID, in db: any Transaction) throws -> Client? {
        try db.rows("SELECT \(columns) FROM clients WHERE id = \(id) AND \(areThere)").first.map(Client.init)
    }

    /// Those of `ids` that are clients here.
    public static func known(among ids: [Client.ID], in db: any Transaction) throws -> [Client.ID: Client] {
        guard !ids.isEmpty else { return [:] }
        let clients = try db.rows(
            "SELECT \(columns) FROM clients WHERE id IN (\(list: ids)) AND deleted_at IS NULL"
        ).map(Client.init)
        return Dictionary(clients.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// A client that may act: neither it nor its merchant is disabled.
    public func findLive(_ id: Client.ID) async throws -> Client? {
        let entry = try await known.entry(id) {
            try await database.read { db in try Self.entry(id, in: db) }
        }
        return entry.flatMap { $0.isLive ? $0.client : nil }
    }

    /// Whether there is a client `id`, live or not; false if that cannot be found out.
    package func isKnown(_ id: Client.ID) async -> Bool {
        let entry = try? await known.entry(id) { try await database.read { db in try Self.entry(id, in: db) } }
        return entry != nil
    }

    /// As above, but only a client of `merchant`. Another merchant's client takes as long as an unknown one, so that
    /// timing does not reveal which it is.
    package func findLive(_ id: Client.ID, of merchant: Merchant.ID?) async throws -> Client? {
        let found = try await database.rows("SELECT id FROM clients WHERE id = \(id) AND merchant_id = \(merchant)")
        return !found.isEmpty ? try await findLive(id) : nil
    }

    /// As above, in an open transaction.
    package static func findLive(_ id: Client.ID, in db: any Transaction) throws -> Client? {
        try Self.entry(id, in: db).flatMap { $0.isLive ? $0.client : nil }
    }

    /// What client authentication needs: the client, its secrets, and whether it may act.
    package static func entry(_ id: Client.ID, in db: any Transaction) throws -> KnownClients.Entry? {
        let rows = try db.rows(
            """
            SELECT \(columns), merchants.disabled_at AS merchant_disabled_at, client_secrets.fingerprint
            FROM clients
            LEFT JOIN merchants ON merchants.id = clients.merchant_id
            LEFT JOIN client_secrets ON client_secrets.client_id = clients.id
            WHERE clients.id = \(id) AND clients.deleted_at IS NULL
            """)
        guard let first = rows.first else { return nil }
        let client = try Client(first)
        let merchantDisabledAt: Timestamp? = try first.get("merchant_disabled_at")
        return KnownClients.Entry(
            client: client,
            secrets: try rows.compactMap { try $0.get("fingerprint") },
            isLive: client.disabledAt == nil && merchantDisabledAt == nil)
    }

    /// At most `count` clients that `search` finds after `place`.
    public func list(_ search: ClientSearch, after place: ClientSearch.Place?, count: Int) async throws -> [Client] {
        try await database.scan(for: .of(search.merchant)) { db in
            try db.rows(
                """
                SELECT \(Self.columns) FROM clients
                WHERE \(search.condition) AND \(search.after(place)) AND \(Self.areThere)
                ORDER BY \(search.orderBy) LIMIT \(count)
                """
            ).map(Client.init)
        }
    }

    /// How many clients `search` finds.
    public func count(_ search: ClientSearch) async throws -> Int {
        try await database.scan(for: .of(search.merchant)) { db in
            try db.rows(
                "SELECT COUNT(*) AS number FROM clients WHERE \(search.condition) AND \(Self.areThere)"
            ).first?.get("number") ?? 0
        }
    }

    /// The enabled clients of `client`'s merchant, including itself, ordered by id: the requested part. Self-registered
    /// clients do not count as the merchant's. Without a merchant, only the client itself.
    public func sharing(merchantOf client: Client, _ part: ListPart) async throws -> [Client] {
        guard let merchant = client.merchant else { return part.offset == 0 && part.limit > 0 ? [client] : [] }
        return try await database.scan(for: .of(merchant)) { db in
            try db.rows(
                """
                SELECT \(Self.columns) FROM clients
                WHERE merchant_id = \(merchant) AND disabled_at IS NULL
                    AND (\(Self.isOfMerchant) OR id = \(client.id))
                ORDER BY id LIMIT \(part.limit) OFFSET \(part.offset)
                """
            ).map(Client.init)
        }
    }
}

extension Clients {
    /// Selects the clients that `merchant` vouches for: all but the self-registered ones.
    package static func vouchedFor(by merchant: Merchant.ID) -> SQL {
        "SELECT id FROM clients WHERE merchant_id = \(merchant) AND \(isOfMerchant)"
    }

    private static let isOfMerchant = ClientRight.belongToMerchant.held(by: "clients")
}

extension Client {
    /// Whether it can get tokens that administer the platform, as long as it has a secret where it needs one.
    public var administersPlatform: Bool {
        merchant == nil && disabledAt == nil && scope.contains(Scope.admin) && may(.administer)
            && grantTypes.contains(.clientCredentials)
    }
}

extension Clients {
    /// Whether any client but `other` can administer the platform. The platform has few clients.
    public static func canAdministerPlatform(besides other: Client.ID?, in db: any Transaction) throws -> Bool {
        let rows = try db.rows(
            "SELECT \(columns) FROM clients WHERE merchant_id IS NULL AND disabled_at IS NULL AND \(areThere)")
        return try rows.map(Client.init).contains { client in
            guard client.administersPlatform, client.id != other else { return false }
            guard client.authentication.takesSecret else { return true }
            return try !db.rows("SELECT id FROM client_secrets WHERE client_id = \(client.id)").isEmpty
        }
    }
}

/// Clients that registered themselves (RFC 7591) and hold a token to change their registration.
extension Clients {
    package static func setRegistrationToken<Of>(
        _ token: Fingerprint<Of>, of id: Client.ID, in db: any Transaction
    ) throws {
        try db.execute("UPDATE clients SET registration_token = \(token) WHERE id = \(id)")
    }

    /// Disables the client if `token` is still its own. Running it again with the same `now` returns true again.
    package static func disable<Of>(
        _ id: Client.ID, holding token: Fingerprint<Of>, at now: Timestamp, in db: any Transaction
    ) throws -> Bool {
        try db.execute(
            """
            UPDATE clients SET disabled_at = \(now)
            WHERE id = \(id) AND registration_token = \(token) AND (disabled_at IS NULL OR disabled_at = \(now))
            """) == 1
    }
}

/// Whether a client ever got a token. Only then its id stays taken after its deletion, so that a client made by mistake
/// can be deleted and made again.
extension Clients {
    /// Notes that `client` gets its first token. False when it has been deleted: a node caches a client for a moment,
    /// in which another client may get the unused id.
    package static func noteUse(of client: Client, at now: Timestamp, in db: any Transaction) throws -> Bool {
        guard client.usedAt == nil else { return true }
        let found = try db.rows(
            """
            SELECT used_at FROM clients
            WHERE id = \(client.id) AND created_at = \(client.createdAt) AND deleted_at IS NULL
            """
        ).first
        guard let found else { return false }
        guard try found.get("used_at", as: Timestamp?.self) == nil else { return true }
        try db.execute("UPDATE clients SET used_at = \(now) WHERE id = \(client.id) AND used_at IS NULL")
        return true
    }

    /// Called when the first token of `client` is stored: from then on nothing is asked.
    package func didNoteUse(of client: Client) {
        if client.usedAt == nil { known.forget(client.id) }
    }

    /// Keeps the id of a client that is about to be deleted, if it ever got a token.
    static func keepID(of id: Client.ID, at now: Timestamp, in db: any Transaction) throws {
        try TakenNames.take(
            .client, "SELECT id AS name, NULL AS merchant_id FROM clients WHERE id = \(id) AND used_at IS NOT NULL",
            at: now, in: db)
    }
}

extension Identifier<Client> {
    /// An id that an administrator chooses. It appears in URLs, headers and logs, so only the characters of our own ids
    /// are allowed. The `sub` of a client's own tokens is its id, and must not be a user's (RFC 9068 §5).
    /// - Parameter member: what the refusal names.
    public init(chosen text: String, in member: String) throws(JSONFault) {
        guard text.wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9._-]{2,99}/) != nil else {
            throw JSONFault(member, "3 to 100 of letters, digits, `.`, `_` and `-`, the first a letter or digit")
        }
        guard UserID(text) == nil, !UserUUID.hasForm(text) else { throw JSONFault(member, "no number and no UUID") }
        self.init(text)
    }
}
