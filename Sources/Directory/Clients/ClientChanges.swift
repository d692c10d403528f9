import Audit
import InternationalText
public import JSON
public import Storage
public import Values

extension Clients {
    /// Changes the members that `json` names; nil if there is no such client. Reading and writing are one transaction,
    /// so a new name never undoes a disabling in between. `sector` is the document at the `sector_identifier_uri`, if
    /// that is new.
    public func change(
        _ id: Client.ID, _ json: JSON, by authority: some ClientAuthority, sector: SectorDocument? = nil
    ) async throws -> Client? {
        let now = clock.now
        let members = try JSONMembers(json)
        let disabled = try members.flag("disabled")
        guard let found = try await find(id) else { return nil }
        // Before the write, which all other writes wait for.
        let metadata = try ClientMetadata(json, over: found, sector: sector)
        if authority.reservedNames != nil, metadata.name != found.name { try await names.learn(from: database) }
        let trail = AuditTrail(by: authority.actor, at: now, random: random)
        let result = try await database.write { [clock, names] db -> (former: Client, changed: Client)? in
            try authority.confirm(in: db)
            guard let client = try Self.find(id, in: db) else { return nil }
            var changed = client
            try changed.take(client == found ? metadata : ClientMetadata(json, over: client, sector: sector))
            changed.updatedAt = now
            if changed.termsURI != client.termsURI { changed.termsChangedAt = changed.termsURI == nil ? nil : now }
            if let disabled { changed.disabledAt = disabled ? client.disabledAt ?? now : nil }
            if client.may(.takeAttributes), !changed.may(.takeAttributes) {
                // They were given as a first-party client's. A third party's client gets only those that the document
                // names.
                changed.openID.claims = changed.openID.claims.filter { members.has($0.key.rawValue) }
            }
            if !client.may(.belongToMerchant), !authority.isClientItself {
                if members.any("scope") != nil { changed.scopeLimit = changed.scope }
                if members.any("grant_types") != nil { changed.grantLimit = changed.grantTypes }
            }
            guard changed.merchant == nil || !changed.scope.contains(Scope.admin) else {
                throw JSONFault.platformScopeOfMerchant
            }
            guard client.may(.shareSigningSecret) || changed.openID.idTokenAlgorithm != .signSecret else {
                throw JSONFault.sharedSecretOfSelfRegistered
            }
            try names.permit(changed, after: client, besides: authority.reservedNames, in: db)
            try changed.confirmSources(after: client, in: db)
            try Self.update(changed, in: db)
            if !changed.looks(like: client) {
                let changedAt = max(now, (client.identityChangedAt ?? now) + .milliseconds(1))
                try db.execute("UPDATE clients SET identity_changed_at = \(changedAt) WHERE id = \(id)")
            }
            if changed.may(.skipConsent) != client.may(.skipConsent) {
                // A server may cache the former client for a moment longer.
                let changedAt = clock.now + KnownClients.memory
                try db.execute("UPDATE clients SET first_party_changed_at = \(changedAt) WHERE id = \(id)")
            }
            if !changed.authenticates(like: client) { try Self.endAdministration(of: id, at: clock.now, in: db) }
            try ClientResources.note(changed, after: client, lends: authority.lendsResources, in: db)
            try ClientRedirectURIs.note(changed, after: client, in: db)
            if changed.may(.skipConsent), !client.may(.skipConsent) {
                // Users are no longer asked for consent, so the holder of the registration token must not change where
                // codes go.
                try db.execute("UPDATE clients SET registration_token = NULL WHERE id = \(id)")
            }
            try authority.permit(changing: client, to: changed, by: json, in: db)
            try trail.recordChange(
                "client.changed", on: .client(id), merchant: changed.merchant?.text, client: id.text, from: client.json,
                to: changed.json, in: db)
            return (client, changed)
        }
        guard let (former, changed) = result else { return nil }
        known.forget(id, hosts: former.spid.sessionHosts != changed.spid.sessionHosts)
        return changed
    }
}

extension Client {
    /// Whether the client authenticates with the same credentials.
    fileprivate func authenticates(like other: Client) -> Bool {
        authentication == other.authentication && openID.keys == other.openID.keys
    }

    /// Whether users see the same client as `former`: the same name, hosts that get its codes, and kind of subject.
    fileprivate func looks(like former: Client) -> Bool {
        (name == former.name || name.isAlike(former.name))
            && openID.subjectType == former.openID.subjectType && places.isSubset(of: former.places)
    }

    private var places: Set<String> { Set(redirectURIs.map(\.place)) }

    /// The client's identity towards users, as a text: another name, host that gets its codes, or kind of subject
    /// changes it.
    public var look: String {
        ([name, "\(openID.subjectType)"] + places.sorted()).joined(separator: "\n")
    }
}

extension Clients {
    /// Deletes a client and all its data; false if there is none.
    ///
    /// From then on it is not found and gets no new data. Its data beyond `budget` are deleted by `finishDeletions`.
    public func delete(
        _ id: Client.ID, within budget: BulkErasure.Budget = .request, by authority: some ClientAuthority
    ) async throws -> Bool {
        // Asked first: when the transaction runs again after a COMMIT of unknown outcome, it finds nothing left to
        // delete.
        guard let client = try await find(id) else { return false }
        let now = clock.now
        let trail = AuditTrail(by: authority.actor, at: now, random: random)
        try await database.write { db in
            // Once it is deleted, the requester's own token may have ended with it.
            guard let client = try Self.find(id, in: db) else { return }
            try authority.confirm(in: db)
            try authority.permit(deleting: client, in: db)
            try db.execute(
                """
                UPDATE clients SET deleted_at = \(now), disabled_at = COALESCE(disabled_at, \(now))
                WHERE id = \(id) AND deleted_at IS NULL
                """)
            try Self.keepID(of: id, at: now, in: db)
            try trail.record(
                "client.deleted", on: .client(id), merchant: client.merchant?.text, client: id.text,
                before: client.json, in: db)
        }
        known.forget(id, hosts: !client.spid.sessionHosts.isEmpty)
        var budget = budget
        _ = try await finish(id, &budget)
        return true
    }

    /// Continues deletions that have begun. Several nodes may do so at once.
    public func finishDeletions(within budget: BulkErasure.Budget) async throws -> DeletionRound {
        let ids: [Client.ID] = try await database.read { db in
            try db.rows(
                "SELECT id FROM clients WHERE deleted_at IS NOT NULL ORDER BY deleted_at LIMIT \(DeletionRound.most)"
            ).map { try $0.get("id") }
        }
        return await DeletionRound(of: ids, within: budget, finish)
    }

    private func finish(_ id: Client.ID, _ budget: inout BulkErasure.Budget) async throws -> Bool {
        // They would be deleted along with its token families, and their sites would not be told.
        var hasMore = true
        while hasMore {
            guard !budget.isSpent else { return false }
            hasMore = try await sessions.endWebViews(of: id)
            if hasMore { budget.spend() }
        }
        let isErased = try await erasure.client(id, &budget) { db in
            try !db.rows("SELECT id FROM clients WHERE id = \(id) AND deleted_at IS NOT NULL").isEmpty
        }
        guard isErased else { return false }
        try await database.write { db in
            _ = try db.execute("DELETE FROM clients WHERE id = \(id) AND deleted_at IS NOT NULL")
        }
        return true
    }
}
