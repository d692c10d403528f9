import Audit
public import Cryptography
public import Directory
public import JSON
public import Keys
import OAuth
public import Storage
public import Values

/// The stored webhooks.
public struct DittoWebhooks: Sendable {
    let database: any Database
    private let clients: Clients
    let clock: any WallClock
    private let random: any RandomSource
    private let seal: Seal
    private let parsed = ParsedRules()

    public init(
        database: any Database, clients: Clients, clock: any WallClock, random: any RandomSource, seal: Seal
    ) {
        self.database = database
        self.clients = clients
        self.clock = clock
        self.random = random
        self.seal = seal
    }

    /// Creates a webhook of `merchant`. Throws a `JSONFault` for `name` if the name is taken, or was another merchant's
    /// and `authority` may not take it.
    public func register(
        _ json: JSON, merchant: Merchant.ID, by authority: some WebhookAuthority
    ) async throws -> DittoWebhook {
        let members = try JSONMembers(json)
        let name = try members.required("name")
        guard DittoWebhook.isName(name) else {
            throw JSONFault("name", "1 to 64 of letters, digits, hyphen, underscore and dot, not `.` or `..`")
        }
        let rules = try DittoRules(json)
        try await check(rules, of: merchant)
        let secrets = try DittoSecrets(members)
        let id = DittoWebhook.ID.random(from: random)
        let now = clock.now
        let webhook = DittoWebhook(
            id: id, merchant: merchant, name: name, document: rules.json.text, parsed: parsed,
            sealedSecrets: secrets?.sealed(for: id, with: seal), createdAt: now, updatedAt: now,
            disabledAt: try members.flag("disabled") == true ? now : nil)
        let trail = AuditTrail(by: authority.actor, at: now, random: random)
        do {
            try await database.write { [seal] db in
                try authority.confirm(in: db)
                if webhook.sealedSecrets != nil { try seal.confirm(in: db) }
                try Merchants.confirm(merchant, in: db)
                guard try authority.takesNames || !TakenNames.isAnothers(.webhook, name, than: merchant, in: db) else {
                    throw Self.nameTaken
                }
                try webhook.insert(in: db)
                try TakenNames.release(.webhook, name, in: db)
                try authority.permit(registering: webhook, in: db)
                try trail.record(
                    "webhook.created", on: Party(.webhook, id.text), merchant: merchant.text, after: webhook.json(),
                    in: db)
            }
        } catch StorageError.conflict {
            throw Self.nameTaken
        }
        parsed.keep(rules, of: webhook.document, for: id, of: merchant)
        return webhook
    }

    public func find(_ id: DittoWebhook.ID) async throws -> DittoWebhook? {
        try await database.read { db in try find(id, in: db) }
    }

    func find(_ id: DittoWebhook.ID, in db: any Transaction) throws -> DittoWebhook? {
        try db.rows("SELECT \(DittoWebhook.columns) FROM webhooks WHERE id = \(id)").first.map(webhook)
    }

    private func webhook(_ row: Row) throws -> DittoWebhook { try DittoWebhook(row, reading: parsed) }

    /// The webhook of that name, if it is not disabled.
    public func findLive(named name: String) async throws -> DittoWebhook? {
        guard DittoWebhook.isName(name) else { return nil }
        return try await database.read { db in
            try db.rows(
                """
                SELECT \(DittoWebhook.columns) FROM webhooks
                WHERE name = \(name) AND disabled_at IS NULL
                    AND EXISTS (SELECT 1 FROM merchants m WHERE m.id = webhooks.merchant_id AND m.deleted_at IS NULL)
                """
            ).first.map(webhook)
        }
    }

    /// At most `count` webhooks whose id is after `cursor`; of one merchant, or of all when nil.
    public func list(of merchant: Merchant.ID?, after cursor: String, count: Int) async throws -> [DittoWebhook] {
        try await database.scan(for: .of(merchant)) { db in
            let rows =
                if let merchant {
                    try db.rows(
                        """
                        SELECT \(DittoWebhook.columns) FROM webhooks
                        WHERE merchant_id = \(merchant) AND id > \(cursor) ORDER BY id LIMIT \(count)
                        """)
                } else {
                    try db.rows(
                        "SELECT \(DittoWebhook.columns) FROM webhooks WHERE id > \(cursor) ORDER BY id LIMIT \(count)")
                }
            return try rows.map(webhook)
        }
    }

    /// Changes the members that `json` names; nil if there is no such webhook. Reading and writing are one transaction.
    public func change(
        _ id: DittoWebhook.ID, _ json: JSON, by authority: some WebhookAuthority
    ) async throws -> DittoWebhook? {
        let members = try JSONMembers(json)
        guard let found = try await find(id) else { return nil }
        for (name, value) in [("name", found.name), ("merchant_id", found.merchant.text)] {
            guard try members.text(name).map({ $0 == value }) ?? true else {
                throw JSONFault(name, "what it was: it cannot change")
            }
        }
        // Before the write, which all other writes wait for: a fault gets no further.
        let rules = try DittoRules(json, over: found.rules)
        let document = rules.json.text
        if members.has("clients") { try await check(rules, of: found.merchant) }
        let secrets = try DittoSecrets(members)
        let disabled = try members.flag("disabled")
        let now = clock.now
        let trail = AuditTrail(by: authority.actor, at: now, random: random)
        let changed = try await database.write { [seal] db -> DittoWebhook? in
            try authority.confirm(in: db)
            guard let webhook = try find(id, in: db) else { return nil }
            var changed = webhook
            let isAsFound = webhook.document.utf8.elementsEqual(found.document.utf8)
            changed.document = isAsFound ? document : try DittoRules(json, over: webhook.rules).json.text
            if let secrets {
                try seal.confirm(in: db)
                changed.sealedSecrets = secrets.sealed(for: id, with: seal)
            }
            if let disabled { changed.disabledAt = disabled ? webhook.disabledAt ?? now : nil }
            changed.updatedAt = now
            try authority.permit(changing: webhook, to: changed)
            try changed.update(in: db)
            try trail.recordChange(
                "webhook.changed", on: Party(.webhook, id.text), merchant: webhook.merchant.text, from: webhook.json(),
                to: changed.json(), secrets: secrets == nil ? [] : ["secrets"], in: db)
            return changed
        }
        if changed?.document == document { parsed.keep(rules, of: document, for: id, of: found.merchant) }
        return changed
    }

    /// A client id that is misspelt or another merchant's would never match: better refused now.
    private func check(_ rules: DittoRules, of merchant: Merchant.ID) async throws {
        for id in rules.clients {
            guard Merchant.same(try await clients.find(id)?.merchant, merchant) else {
                throw JSONFault("clients", "the ids of clients of the webhook's merchant")
            }
        }
    }
}

/// The name of a deleted webhook stays its merchant's: Ditto still asks at its URL, and would believe another
/// merchant's answer there.
extension DittoWebhooks {
    static let nameTaken = JSONFault("name", "new: there is a webhook of this name, or another merchant had one")

    /// How many webhooks a merchant may make by itself.
    public static let mostOfMerchant = 100
    /// How many names of deleted ones may be kept for a merchant before it makes no more by itself.
    private static let mostNames = 1000

    /// Whether `merchant` has no more webhooks than that, the one that was just stored among them.
    public static func hasRoom(_ merchant: Merchant.ID, in db: any Transaction) throws -> Bool {
        try db.rows(
            "SELECT id FROM webhooks WHERE merchant_id = \(merchant) ORDER BY id LIMIT 1 OFFSET \(mostOfMerchant)"
        ).isEmpty
            && !TakenNames.has(moreThan: mostNames, .webhook, of: merchant, in: db)
    }

    /// Deletes a webhook. False when there is none.
    public func delete(_ id: DittoWebhook.ID, by authority: some WebhookAuthority) async throws -> Bool {
        // Checked before: a rerun after a COMMIT of unknown outcome finds nothing left to delete.
        guard try await find(id) != nil else { return false }
        let now = clock.now
        let trail = AuditTrail(by: authority.actor, at: now, random: random)
        try await database.write { db in
            try authority.confirm(in: db)
            if let webhook = try find(id, in: db) {
                try authority.permit(deleting: webhook)
                try trail.record(
                    "webhook.deleted", on: Party(.webhook, id.text), merchant: webhook.merchant.text,
                    before: try? webhook.json(), in: db)
            }
            try Self.delete("id = \(id)", at: now, in: db)
        }
        return true
    }

    /// Deletes a batch of a merchant's webhooks.
    static let erasure: StoredTable.Erasure = .steps { merchant, batch, db in
        guard
            let now: Timestamp = try db.rows("SELECT deleted_at FROM merchants WHERE id = \(merchant)").first?
                .get("deleted_at")
        else { return 0 }
        return try delete(
            """
            merchant_id = \(merchant)
                AND id IN (SELECT id FROM webhooks WHERE merchant_id = \(merchant) ORDER BY id LIMIT \(batch))
            """, at: now, in: db)
    }

    /// Deletes the webhooks for which `condition` holds, and keeps their names.
    @discardableResult
    private static func delete(_ condition: SQL, at now: Timestamp, in db: any Transaction) throws -> Int {
        try TakenNames.take(.webhook, "SELECT name, merchant_id FROM webhooks WHERE \(condition)", at: now, in: db)
        return try db.execute("DELETE FROM webhooks WHERE \(condition)")
    }
}

extension DittoWebhooks {
    public static let table = StoredTable(
        "webhooks", ofMerchant: erasure, sealed: [(SealedPlace.webhookSecrets.rawValue, "sealed_secrets")])
}
