import InternationalText
public import JSON
public import Storage
public import Values

extension Clients {
    /// Changes the members that `json` names; nil when there is no such client. Reading, `permit` and writing are one
    /// transaction, so that a change of the name never undoes a disabling that came between.
    ///
    /// `confirm` and `permit` refuse by throwing. `confirm` repeats the checks that were made before this call.
    /// `permit` gets the client before and after the change. `sector` is the document at its `sector_identifier_uri`,
    /// if that is new. `adopt` joins the transaction where a third party's client becomes its merchant's own. Only the
    /// platform gives the client a new name that looks like another merchant's, or like one of `reserved`.
    public func change(
        _ id: Client.ID, _ json: JSON, by author: ClientAuthor, reserved: [String] = [],
        sector: SectorDocument? = nil,
        confirm: @escaping @Sendable (any Transaction) throws -> Void = { _ in },
        permit: @escaping @Sendable (_ client: Client, _ changed: Client) throws -> Void = { _, _ in },
        adopt: @escaping @Sendable (any Transaction) throws -> Void = { _ in }
    ) async throws -> Client? {
        let now = clock.now
        let disabled = try JSONMembers(json).flag("disabled")
        guard let found = try await find(id) else { return nil }
        // Before the write, which all other writes wait for.
        let metadata = try ClientMetadata(json, over: found, sector: sector)
        if author != .platform, metadata.name != found.name { try await names.learn(from: database) }
        let result = try await database.write { [clock, names] db -> (former: Client, changed: Client)? in
            try confirm(db)
            guard let client = try Self.find(id, in: db) else { return nil }
            var changed = client
            try changed.take(client == found ? metadata : ClientMetadata(json, over: client, sector: sector))
            changed.updatedAt = now
            if changed.termsURI != client.termsURI { changed.termsChangedAt = changed.termsURI == nil ? nil : now }
            if let disabled { changed.disabledAt = disabled ? client.disabledAt ?? now : nil }
            let namesClaims = try JSONMembers(json).has("id_token_claims")
            if author == .platform, client.firstParty, !changed.firstParty, !namesClaims {
                // They were a merchant's own to give. The platform gives a third party's by naming them.
                changed.openID.claims = [:]
            }
            if client.registeredItself, author != .itself {
                let members = try JSONMembers(json)
                if members.any("scope") != nil { changed.scopeLimit = changed.scope }
                if members.any("grant_types") != nil { changed.grantLimit = changed.grantTypes }
            }
            guard changed.merchant == nil || !changed.scope.contains(Scope.admin) else {
                throw JSONFault.platformScopeOfMerchant
            }
            guard !changed.registeredItself || changed.openID.idTokenAlgorithm != .signSecret else {
                throw JSONFault.sharedSecretOfStranger
            }
            try permit(client, changed)
            try names.permit(changed, after: client, by: author, reserved: reserved, in: db)
            try changed.confirmSources(after: client, in: db)
            try Self.update(changed, in: db)
            if !changed.looks(like: client) {
                let changedAt = max(now, (client.identityChangedAt ?? now) + .milliseconds(1))
                try db.execute("UPDATE clients SET identity_changed_at = \(changedAt) WHERE id = \(id)")
            }
            if changed.firstParty != client.firstParty {
                // A server may cache the former client for a moment longer.
                let changedAt = clock.now + KnownClients.memory
                try db.execute("UPDATE clients SET first_party_changed_at = \(changedAt) WHERE id = \(id)")
            }
            if !changed.authenticates(like: client) { try Self.endAdministration(of: id, at: clock.now, in: db) }
            try ClientResources.note(changed, after: client, by: author, in: db)
            try Self.confirmCallback(of: changed, after: client, by: author, in: db)
            try Self.confirmClaims(of: changed, after: client, by: author)
            if changed.firstParty, !client.firstParty {
                // Users are no longer asked for consent, so the holder of the registration token must not change where
                // codes go.
                try db.execute("UPDATE clients SET registration_token = NULL WHERE id = \(id)")
                try adopt(db)
            }
            return (client, changed)
        }
        guard let (former, changed) = result else { return nil }
        known.forget(id, hosts: former.spid.sessionHosts != changed.spid.sessionHosts)
        return changed
    }

    /// Throws when a third party's client, which `author` stores, gets attributes that the platform has not given it:
    /// no page asks its users for them.
    static func confirmClaims(of client: Client, after former: Client?, by author: ClientAuthor) throws(JSONFault) {
        let (claims, before) = (client.openID.claims, former.map { $0.firstParty ? [:] : $0.openID.claims } ?? [:])
        guard author != .platform, !client.firstParty, !claims.allSatisfy({ before[$0.key] == $0.value }) else {
            return
        }
        throw JSONFault(
            "id_token_claims",
            "left out for a third party's client: no page asks its users, so only the platform gives them")
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
