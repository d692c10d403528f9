import Directory
import JSON
public import Storage
import Values

extension AccessTokens {
    static let table = StoredTable(
        "access_tokens", retention: [.rows("accessTokens", key: "fingerprint", until: "expires_at")], ofUser: .expiry,
        ofClient: .expiry)
}

extension RefreshTokens {
    /// How long an expired or rotated token is remembered after its expiry, so that a replay still revokes.
    public static let memory: Duration = .days(7)

    static let table = StoredTable(
        "refresh_tokens",
        retention: [
            .rows("refreshTokens", key: "fingerprint", until: "expires_at", memory: memory),
            // A chain that rotated every hour for a month has hundreds of tokens. They are deleted first, in batches.
            .statement("refreshTokensOfEnded") { now, batch in
                """
                DELETE FROM refresh_tokens WHERE fingerprint IN (
                    SELECT r.fingerprint FROM token_families f JOIN refresh_tokens r ON r.family_id = f.id
                    WHERE f.ended_at <= \(now - memory) ORDER BY f.ended_at LIMIT \(batch))
                """
            },
        ],
        ofUser: .withParent, ofClient: .withParent,
        // The predecessor's text opens its sealed successor, and this server does not have that text.
        forgottenWithKey: "UPDATE refresh_tokens SET sealed_successor = NULL WHERE sealed_successor IS NOT NULL")
}

extension TokenFamilies {
    /// How long a family is remembered after its expiry. Longer than its refresh tokens, which may outlive it by a
    /// hundredth of a year, and than a session bought in its last minute.
    public static let memory: Duration = .days(14)

    static let table = StoredTable(
        "token_families",
        retention: [
            .statement("endedFamilies") { now, batch in
                """
                DELETE FROM token_families WHERE id IN (
                    SELECT id FROM token_families
                    WHERE ended_at <= \(now - RefreshTokens.memory)
                    ORDER BY ended_at LIMIT \(batch))
                AND NOT EXISTS (SELECT 1 FROM refresh_tokens r WHERE r.family_id = token_families.id)
                """
            },
            // The first that may go is asked for, and not in a write: it goes past all that are kept.
            .beyond(
                "expiredFamilies",
                first: """
                    SELECT CAST(f.expires_at AS TEXT) AS first FROM token_families f
                    WHERE f.expires_at > 0 AND NOT \(leadsOn) ORDER BY f.expires_at LIMIT 1
                    """
            ) { first, now, batch in
                """
                DELETE FROM token_families WHERE id IN (
                    SELECT f.id FROM token_families f
                    WHERE f.expires_at >= CAST(\(first) AS BIGINT) AND f.expires_at <= \(now - memory)
                        AND NOT \(leadsOn)
                    ORDER BY f.expires_at LIMIT \(batch))
                AND NOT EXISTS (SELECT 1 FROM refresh_tokens r WHERE r.family_id = token_families.id)
                """
            },
        ],
        ofUser: .steps { user, batch, db in
            try erase("SELECT id FROM token_families WHERE user_id = \(user) LIMIT \(batch)", batch, in: db)
        },
        ofClient: .steps { client, batch, db in
            let some = try db.rows(
                """
                SELECT f.id, f.user_id, COALESCE(c.deleted_at, m.deleted_at) AS deleted_at
                FROM token_families f JOIN clients c ON c.id = f.client_id
                LEFT JOIN merchants m ON m.id = c.merchant_id
                WHERE f.client_id = \(client) LIMIT \(batch)
                """)
            // The web views of these families have ended before (`Sessions.endWebViews`), and sites were told. The
            // others end here with their merchant, the only one they are good at, whose sites are deleted too.
            let families: [(user: UserID?, id: TokenFamily.ID)] = try some.map {
                (try $0.get("user_id"), try $0.get("id"))
            }
            for (user, own) in Dictionary(grouping: families, by: \.user) {
                guard let user, let now: Timestamp = try some.first?.get("deleted_at") else { continue }
                try Ending.carryOut(.familiesEnd(own.map(\.id)), of: user, telling: nil, at: now, in: db)
            }
            try SessionClients.forget(client, with: families.map(\.id), in: db)
            return try erase(families.map(\.id), batch, in: db)
        },
        export: [TokenFamilies.export])

    /// Whether something is left that was got in web views of the family `f`, which has not ended: an end of `f`, or of
    /// its client, reaches that only while `f` is there too.
    static let leadsOn: SQL = {
        let ends = TokenFamily.Path.webViewEnds
        return """
            (f.ended_at IS NULL AND EXISTS (SELECT 1 FROM token_families w
                WHERE w.path > f.path || \(ends.low) AND w.path < f.path || \(ends.high)
                    AND w.session_id IS NOT NULL AND w.path <> w.id))
            """
    }()

    /// Deletes the refresh tokens of `some` families, at most `batch`, and those families that have none left.
    static func erase(_ some: SQL, _ batch: Int, in db: any Transaction) throws -> Int {
        try erase(db.rows(some).map { try $0.get("id") }, batch, in: db)
    }

    private static func erase(_ families: [TokenFamily.ID], _ batch: Int, in db: any Transaction) throws -> Int {
        guard !families.isEmpty else { return 0 }
        let tokens = try db.execute(
            """
            DELETE FROM refresh_tokens WHERE fingerprint IN (
                SELECT fingerprint FROM refresh_tokens WHERE family_id IN (\(list: families)) LIMIT \(batch))
            """)
        let gone = try db.execute(
            """
            DELETE FROM token_families WHERE id IN (\(list: families))
                AND NOT EXISTS (SELECT 1 FROM refresh_tokens r WHERE r.family_id = token_families.id)
            """)
        // After a full batch of either kind there may be more.
        return tokens == batch || families.count == batch ? batch : gone
    }
}

extension AuthorizationCodes {
    /// How long a spent code is remembered after its expiry, so that a replay still revokes. If a thief redeems it
    /// first, the client follows within seconds.
    static let memory: Duration = .hours(1)
    /// How long an unspent code is remembered, and a session code, whose replay revokes nothing: long enough to tell
    /// late from unknown. A client that asks for codes in a loop leaves only the codes of these minutes.
    static let memoryOfUnspent: Duration = .minutes(1)

    static let table = StoredTable(
        "authorization_codes",
        retention: [
            .rows(
                "authorizationCodes", key: "fingerprint", until: "expires_at", where: "spent_at IS NOT NULL",
                memory: memory),
            .rows(
                "unspentAuthorizationCodes", key: "fingerprint", until: "expires_at", where: "spent_at IS NULL",
                memory: memoryOfUnspent),
        ],
        ofUser: .expiry, ofClient: .expiry)
}

extension ExchangeCodes {
    static let table = StoredTable(
        "exchange_codes",
        retention: [
            .rows(
                "exchangeCodes", key: "fingerprint", until: "expires_at", where: "spent_at IS NOT NULL",
                memory: AuthorizationCodes.memoryOfUnspent),
            .rows(
                "unspentExchangeCodes", key: "fingerprint", until: "expires_at", where: "spent_at IS NULL",
                memory: AuthorizationCodes.memoryOfUnspent),
        ],
        ofUser: .expiry, ofClient: .expiry)
}

extension Consents {
    static let table = StoredTable(
        "consents", ofUser: .cascade, ofClient: .batches(owner: "client_id", key: "user_id"), export: [Consents.export])
}

extension Agreements {
    static let table = StoredTable(
        "agreements", ofUser: .cascade, ofClient: .batches(owner: "client_id", key: "user_id"),
        export: [Agreements.export])
}

extension Introductions {
    static let table = StoredTable(
        "introductions", ofUser: .cascade, ofMerchant: .batches(owner: "merchant_id", key: "user_id"),
        export: [Introductions.export])
}

extension InitialAccessTokens {
    static let table = StoredTable(
        "initial_access_tokens", retention: [.rows("initialAccessTokens", key: "id", until: "expires_at")],
        ofMerchant: .batches(owner: "merchant_id", key: "id"))
}

extension ReplayMemory {
    static let table = StoredTable(
        "used_assertions", retention: [.rows("usedAssertions", key: "fingerprint", until: "expires_at")])
}

extension Interactions {
    static let table = StoredTable(
        "interactions",
        retention: [
            .rows("interactions", key: "fingerprint", until: "expires_at"), limit(to: Interaction.mostInAll),
            limitOfSignedIn(to: Interaction.mostInAll),
        ], ofClient: .expiry)
}

extension StoredTable {
    /// The tables of this module, children first.
    public static let ofOAuth = [
        AccessTokens.table, RefreshTokens.table, AuthorizationCodes.table, ExchangeCodes.table,
        CodeEnds.table, TokenFamilies.table,
        Consents.table, Agreements.table, Introductions.table, InitialAccessTokens.table, ReplayMemory.table,
        Interactions.table, SessionClients.table,
    ]
}

extension Introductions {
    static let export = StoredTable.Export.member("introductions") { user, db in
        .array(
            try db.rows(
                """
                SELECT i.merchant_id, m.name, i.created_at FROM introductions i JOIN merchants m ON m.id = i.merchant_id
                WHERE i.user_id = \(user)
                """
            ).map { row in
                .members([
                    "merchant_id": .string(try row.get("merchant_id")), "merchant_name": .string(try row.get("name")),
                    "since": try row.utc("created_at"),
                ])
            })
    }
}

extension Consents {
    static let export = StoredTable.Export.member("consents") { user, db in
        .array(
            try db.rows(
                "SELECT client_id, scope, created_at, updated_at FROM consents WHERE user_id = \(user)"
            ).map { row in
                .members([
                    "client_id": .string(try row.get("client_id")), "scope": .string(try row.get("scope")),
                    "given_at": try row.utc("created_at"), "changed_at": try row.utc("updated_at"),
                ])
            })
    }
}

extension Agreements {
    /// Those without a client are with the platform.
    static let export = StoredTable.Export.member("agreements") { user, db in
        .array(
            try db.rows(
                "SELECT client_id, terms_uri, accepted_at FROM agreements WHERE user_id = \(user)"
            ).map { row in
                let client: String = try row.get("client_id")
                return .members([
                    "client_id": client.isEmpty ? nil : .string(client), "terms": .string(try row.get("terms_uri")),
                    "accepted_at": try row.utc("accepted_at"),
                ])
            })
    }
}

extension TokenFamilies {
    /// Includes the ended ones, as long as they are kept.
    static let export = StoredTable.Export.member("permissions") { user, db in
        .array(
            try ["ended_at IS NULL", "ended_at IS NOT NULL"].flatMap { (ended: SQL) in
                try db.rows(
                    """
                    SELECT client_id, scope, signed_in_at, created_at, expires_at, ended_at FROM token_families
                    WHERE user_id = \(user) AND \(ended) LIMIT \(StoredTable.Export.most)
                    """)
            }.map { row in
                .members([
                    "client_id": .string(try row.get("client_id")), "scope": .string(try row.get("scope")),
                    "signed_in_at": try row.utc("signed_in_at"), "made_at": try row.utc("created_at"),
                    "expires_at": try row.utc("expires_at"), "ended_at": try row.utc("ended_at"),
                ])
            })
    }
}

extension SessionClients {
    static let export = StoredTable.Export.member("session_clients") { user, db in
        .array(
            try db.rows(
                """
                SELECT l.client_id, l.left_at FROM session_clients l JOIN sessions s ON s.id = l.session_id
                WHERE s.user_id = \(user) LIMIT \(StoredTable.Export.most)
                """
            ).map { row in
                .members([
                    "client_id": .string(try row.get("client_id")), "signed_out_at": try row.utc("left_at"),
                ])
            })
    }
}
