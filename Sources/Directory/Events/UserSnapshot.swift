import Audit
import JSON
package import Storage
package import Values

/// A user at one moment of a transaction, to find out what changed.
package struct UserSnapshot {
    package let user: User
    private let passwordHash: String?

    /// Nil when there is no such user.
    package init?(of id: UserID?, in db: any Transaction) throws {
        guard let id else { return nil }
        let row = try db.rows("SELECT \(User.columns), password_hash FROM users WHERE id = \(id)").first
        guard let row else { return nil }
        user = try User(row)
        passwordHash = try row.get("password_hash")
    }

    /// What an event shows of the user: of the password, only that it changed.
    fileprivate func document(since former: UserSnapshot) -> JSON {
        let members = user.adminJSON.members ?? []
        return .object(passwordHash == former.passwordHash ? members : members + [.init("password", "changed")])
    }

    /// What is different `later`; nil when nothing visible is.
    package func change(to later: UserSnapshot) -> UserEvent? {
        let (old, new) = (user, later.user)
        var fields: Set<UserEvent.Field> = []
        if old.email != new.email { fields.insert(.email) }
        if passwordHash != later.passwordHash { fields.insert(.password) }
        for member in (old.profile.members ?? []) + (new.profile.members ?? [])
        where old.profile[member.name] != new.profile[member.name] {
            fields.insert(.claim(member.name))
        }
        if old.isPhoneVerified != new.isPhoneVerified { fields.insert(.claim(User.phoneVerified)) }
        let standing = old.standing == new.standing ? nil : new.standing
        return fields.isEmpty && standing == nil ? nil : .changed(fields: fields, standing: standing)
    }
}

extension UserEvents.Announcement {
    /// Does `work` on the user `id`, and publishes what it changed.
    @discardableResult
    package func watching<Value>(_ id: UserID, in db: any Transaction, _ work: () throws -> Value) throws -> Value {
        let before = try UserSnapshot(of: id, in: db)
        let value = try work()
        try sayWhatChanged(since: before, in: db)
        return value
    }

    /// Publishes what has changed since.
    package func sayWhatChanged(since before: UserSnapshot?, in db: any Transaction) throws {
        guard let before, let after = try UserSnapshot(of: before.user.id, in: db),
            let change = before.change(to: after)
        else { return }
        try trail(of: before.user.id).recordChange(
            "user.changed", on: .user(before.user.id), from: before.user.adminJSON,
            to: after.document(since: before), in: db)
        try say(change, before.user.id, db)
    }
}
