package import Directory
package import HTTP
package import Values

/// The sessions of one browser: the current one, and those of other users that were set aside in it.
///
/// A session that is set aside does nothing until its user is chosen again. Its secret is only in a cookie, like that
/// of the current one. One that rests signs its user in to nothing, but keeps its place: it is ended, replaced and left
/// as any other.
package struct HeldSessions: Sendable {
    package struct Held: Sendable {
        package let session: Session
        package let secret: Secret<Session>
        /// False while it rests.
        package let isLive: Bool
    }

    /// How many are set aside at most: one more ends the one that was set aside first.
    static let mostOthers = 4

    package let current: Held?
    /// The one set aside last comes first. Each that is live is of a different user.
    package let others: [Held]
    /// Those beyond the limit.
    package let surplus: [Session]

    /// - Parameter others: may include sessions of the same user, of which the first counts.
    init(current: Held?, others: [Held]) {
        self.current = current
        var users = Set([current].compactMap(\.self).filter(\.isLive).map(\.session.user))
        let own = others.filter { !$0.isLive || users.insert($0.session.user).inserted }
        self.others = Array(own.prefix(Self.mostOthers))
        let kept = Set(self.others.map(\.session.id.text))
        surplus = others.map(\.session).filter { $0.id != current?.session.id && !kept.contains($0.id.text) }
    }

    private var held: [Held] { [current].compactMap(\.self) + others }

    /// All sessions of the browser, also those that rest.
    package var all: [Session] { held.map(\.session) }

    /// The current one, if its user is signed in by it.
    package var signedIn: Session? { current.flatMap { $0.isLive ? $0.session : nil } }

    /// Those by which a user is signed in, or would be if they were chosen.
    package var live: [Session] { held.filter(\.isLive).map(\.session) }

    /// Whether users were set aside who can be chosen.
    package var hasOthers: Bool { others.contains(where: \.isLive) }

    /// The same browser with another current session; with nil, for a user who is about to sign in.
    package func choosing(_ chosen: Held?) -> HeldSessions {
        let rest = held.filter { $0.session.id != chosen?.session.id }
        return HeldSessions(current: chosen, others: rest)
    }

    /// The session `id`, if it is live.
    package func find(_ id: Session.ID) -> Held? { held.first { $0.session.id == id && $0.isLive } }

    /// The ids of all of them, for the end of all.
    package var ids: [Session.ID] { (all + surplus).map(\.id) }

    /// All sessions of `user`, including one that was set aside before the same user signed in again.
    package func sessions(of user: UserID) -> [Session] { (all + surplus).filter { $0.user == user } }

    /// The cookies that store this state.
    package func cookies(_ site: Site) -> [String] {
        [
            current.map { site.sessionCookie($0.secret, isRemembered: $0.session.isRemembered) }
                ?? site.clearedSessionCookie,
            site.othersCookie(others),
        ]
    }
}

extension Site {
    /// A cookie that ends with the browser's own session, unless all sessions in it are remembered.
    fileprivate func othersCookie(_ others: [HeldSessions.Held]) -> String {
        guard !others.isEmpty else { return cleared(othersCookie) }
        let value = others.map(\.secret.value).joined(separator: ".")
        let cookie = cookie(othersCookie, value, sameSite: sameSite)
        let isRemembered = others.allSatisfy(\.session.isRemembered)
        return isRemembered ? cookie + "; Max-Age=\(Session.rememberedLifetime.seconds)" : cookie
    }
}

extension Sessions {
    /// All sessions of the browser that sent `request`. Those that have ended are left out.
    package func all(of request: Request, _ site: Site) async throws -> HeldSessions {
        let current = try await current(of: request, site)
        let secrets = request.secretsSetAside(site)
        guard !secrets.isEmpty else { return HeldSessions(current: current, others: []) }
        return HeldSessions(current: current, others: try await look(at: secrets).map(HeldSessions.Held.init))
    }

    /// The current one, also while it rests: what is to be ended, or gives its place to another.
    package func current(of request: Request, _ site: Site) async throws -> HeldSessions.Held? {
        guard let value = request.cookie(site.sessionCookie) else { return nil }
        let secret = Secret<Session>(value)
        // This is a use of it.
        if let session = try await find(secret) {
            request.note(session.user)
            return HeldSessions.Held(session: session, secret: secret, isLive: true)
        }
        return try await look(at: [secret]).first.map(HeldSessions.Held.init)
    }
}

extension HeldSessions.Held {
    fileprivate init(_ found: (secret: Secret<Session>, session: Session, isLive: Bool)) {
        self.init(session: found.session, secret: found.secret, isLive: found.isLive)
    }
}

extension Request {
    /// What the cookie holds, as long as it can be one of ours.
    fileprivate func secretsSetAside(_ site: Site) -> [Secret<Session>] {
        let most = HeldSessions.mostOthers
        guard let value = cookie(site.othersCookie, atMost: most * 44) else { return [] }
        return value.split(separator: ".").prefix(most).filter { $0.utf8.count == 43 }.map { Secret(String($0)) }
    }
}
