import Audit
import JSON
import Storage
import Values

extension UserEvents {
    /// Stores what happens to a user as events of the audit. What changes of a user's own values is stored where both
    /// are known (`Announcement.sayWhatChanged`).
    public static let audit = Subscriber(
        "Audit",
        [
            .on(.signedUp, "stores an event") { _, user, said, db in
                try said.trail(of: user).record("user.signed_up", on: .user(user), in: db)
            },
            .on(.sessionsEnd, "stores an event for each session") { event, user, said, db in
                guard case .sessionsEnd(let sessions) = event else { return }
                for session in sessions {
                    try said.trail(of: user).record(
                        "session.ended", on: Party(.session, session.text), of: user, in: db)
                }
            },
            .on(.allSessionsEnd, "stores an event") { event, user, said, db in
                guard case .allSessionsEnd(let kept) = event else { return }
                try said.trail(of: user).record("user.sessions_ended", on: .user(user), after: keeping(kept), in: db)
            },
            .on(.clientLeft, "stores an event") { event, user, said, db in
                guard case .clientLeft(let client, let session) = event else { return }
                try said.trail(of: user).record(
                    "session.client_left", on: Party(.session, session.text), of: user, client: client.text, in: db)
            },
            .on(.familiesEnd, "stores an event for each token family") { event, user, said, db in
                guard case .familiesEnd(let families) = event else { return }
                for family in families {
                    try said.trail(of: user).record(
                        "token_family.ended", on: Party(.tokenFamily, family.text), of: user, in: db)
                }
            },
            .on(.clientEnds, "stores an event") { event, user, said, db in
                guard case .clientEnds(let client) = event else { return }
                try said.trail(of: user).record("user.client_ended", on: .user(user), client: client.text, in: db)
            },
            .on(.removed, "stores an event") { event, user, said, db in
                guard case .removed(let merchant) = event else { return }
                try said.trail(of: user).record("user.removed", on: .user(user), merchant: merchant.text, in: db)
            },
            .on(.accessRevoked, "stores an event") { event, user, said, db in
                guard case .accessRevoked(let kept) = event else { return }
                try said.trail(of: user).record("user.access_revoked", on: .user(user), after: keeping(kept), in: db)
            },
            .on(.takenOver, "stores an event") { _, user, said, db in
                try said.trail(of: user).record("user.taken_over", on: .user(user), in: db)
            },
            .on(.linked, "stores an event") { event, user, said, db in
                guard case .linked(let issuer) = event else { return }
                try said.trail(of: user).record(
                    "identity.linked", on: .user(user), after: .members(["issuer": .string(issuer)]), in: db)
            },
            .on(.unlinked, "stores an event") { event, user, said, db in
                guard case .unlinked(let issuer, _, _) = event else { return }
                try said.trail(of: user).record(
                    "identity.unlinked", on: .user(user), before: .members(["issuer": .string(issuer)]), in: db)
            },
            .on(.methodRevoked, "stores an event") { event, user, said, db in
                guard case .methodRevoked(let method, _) = event else { return }
                try said.trail(of: user).record(
                    "user.method_revoked", on: .user(user), before: .members(["method": .string("\(method)")]), in: db)
            },
            .on(.disconnected, "stores an event") { event, user, said, db in
                guard case .disconnected(let merchant) = event else { return }
                try said.trail(of: user).record("user.disconnected", on: .user(user), merchant: merchant.text, in: db)
            },
            .on(.deleted, "stores an event that does not name the user's person") { _, user, said, db in
                try said.trail(of: user).record("user.deleted", on: .user(user), isAnonymous: true, in: db)
            },
        ])

    private static func keeping(_ session: Session.ID?) -> JSON? {
        session.map { .members(["kept_session": .string($0.text)]) }
    }
}
