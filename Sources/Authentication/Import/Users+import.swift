import Cryptography
import Directory
import JSON
import Storage
import Values

/// The outcome for a line.
enum ImportOutcome: Sendable {
    case imported
    /// A user has the address already, and is not changed.
    case existing(UserID, subject: String?)
    case refused(ImportFault)
}

extension Users {
    /// Stores the users of `batch` that have no conflict, in one transaction, with what `extras` keeps of them. A
    /// rehearsal stores nothing.
    func take(
        _ batch: [ImportedUser], _ extras: ImportExtras, isRehearsal: Bool
    ) async throws -> [ImportOutcome] {
        let now = clock.now
        @Sendable func work(_ db: any Transaction) throws -> [ImportOutcome] {
            let outcomes = try Self.outcomes(of: batch, at: now, extras, in: db)
            guard !isRehearsal else { return outcomes }
            let stored = try User.holders(of: batch.map { $0.user(at: now) }, in: db)
            let new = zip(batch, outcomes).compactMap { user, outcome -> ImportedUser? in
                // A retry after a COMMIT of unknown outcome finds its own rows.
                guard case .imported = outcome, !stored.contains(where: { $0.id == user.id }) else { return nil }
                return user
            }
            try User.insert(new.map { (user: $0.user(at: now), passwordHash: $0.passwordHash?.encoded) }, in: db)
            try extras.store(new, now, db)
            return outcomes
        }
        guard !isRehearsal else { return try await database.read { db in try work(db) } }
        for _ in 1...3 {
            // The server may be running, and a user may just have signed up with one of these addresses.
            do { return try await database.write { db in try work(db) } } catch StorageError.conflict {}
        }
        return try await database.write { db in try work(db) }
    }

    /// Those of `subjects` that are client ids, which are the `sub` of the clients' own tokens (RFC 9068 §5).
    static func clients(named subjects: [String], in db: any Transaction) throws -> [String] {
        guard !subjects.isEmpty else { return [] }
        return try db.rows("SELECT id FROM clients WHERE id IN (\(list: subjects))").map { try $0.get("id") }
    }

    private static func outcomes(
        of batch: [ImportedUser], at now: Timestamp, _ extras: ImportExtras, in db: any Transaction
    ) throws -> [ImportOutcome] {
        let holders = try User.holders(of: batch.map { $0.user(at: now) }, in: db)
        let byEmail = Dictionary(
            holders.compactMap { holder in holder.email.map { ($0, holder) } }, uniquingKeysWith: { first, _ in first })
        let ids = Set(holders.map(\.id))
        let subjects = Set(holders.compactMap(\.subject)).union(try clients(named: batch.compactMap(\.subject), in: db))
        let faults = try extras.check(batch, db)
        return batch.map { user in
            if let holder = byEmail[user.email.text] {
                let isOurs = holder.id == user.id && holder.updatedAt == now
                return isOurs ? .imported : .existing(holder.id, subject: holder.subject)
            }
            if ids.contains(user.id) { return .refused(.taken("user_id")) }
            if let subject = user.subject, subjects.contains(subject) { return .refused(.taken("sub")) }
            return faults[user.id].map { .refused($0) } ?? .imported
        }
    }
}

extension ImportedUser {
    func user(at now: Timestamp) -> User {
        User(
            id: id, email: email.text, emailVerified: emailVerified, profile: profile, createdAt: createdAt ?? now,
            updatedAt: now, disabledAt: isDisabled ? now : nil, deletionDueAt: nil, subject: subject)
    }
}
