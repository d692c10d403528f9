import Storage
package import Values

/// Sessions that a browser keeps beside its current one, for other users.
extension Sessions {
    /// The live sessions of `secrets`, in their order. Looking does not count as use, so they end no later for it.
    package func look(at secrets: [Secret<Session>]) async throws -> [(secret: Secret<Session>, session: Session)] {
        let now = clock.now
        return try await database.read { db in
            try secrets.compactMap { secret in
                try Self.find(secret.fingerprint, at: now, in: db).map { (secret, $0) }
            }
        }
    }

    /// Ends sessions that a browser has no room for. Their users did not sign out, so only the end is published.
    package func displace(_ ids: [Session.ID]) async throws {
        guard !ids.isEmpty else { return }
        let now = clock.now
        try await events.write(to: database, at: now) { db, announcement in
            for id in ids { try Self.displace(id, at: now, in: db, announcement) }
        }
    }

    /// Signs out the users of all sessions of a browser, at the request of its current user.
    package func end(_ ids: [Session.ID]) async throws {
        let now = clock.now
        try await events.write(to: database, at: now) { db, announcement in
            for id in ids { try Self.end(id, at: now, in: db, announcement) }
        }
    }
}
