package import Directory
package import HTTP
package import Values

/// The sessions of one browser: the current one, and those of other users that were set aside in it.
///
/// A session that is set aside does nothing until its user is chosen again. Its secret is only in a cookie, like that
/// of the current one.
package struct HeldSessions: Sendable {
    package struct Held: Sendable {
        package let session: Session
        package let secret: Secret<Session>
    }

    /// How many are set aside at most: one more ends the one that was set aside first.
    static let mostOthers = 4

    package let current: Held?
    /// The one set aside last comes first. Each is live, and of a different user.
    package let others: [Held]
    /// Those beyond the limit.
    package let surplus: [Session]

    /// - Parameter others: may include sessions of the same user, of which the first counts.
    init(current: Held?, others: [Held]) {
        self.current = current
        var users = Set([current?.session.user].compactMap(\.self))
        let own = others.filter { users.insert($0.session.user).inserted }
        self.others = Array(own.prefix(Self.mostOthers))
        let kept = Set(self.others.map(\.session.id.text))
        surplus = others.map(\.session).filter { $0.id != current?.session.id && !kept.contains($0.id.text) }
    }

    /// All sessions of the browser.
    package var all: [Session] { ([current].compactMap(\.self) + others).map(\.session) }

    /// The same browser with another current session; with nil, for a user who is about to sign in.
    package func choosing(_ chosen: Held?) -> HeldSessions {
        let rest = ([current].compactMap(\.self) + others).filter { $0.session.id != chosen?.session.id }
        return HeldSessions(current: chosen, others: rest)
    }

    package func find(_ id: Session.ID) -> Held? {
        ([current].compactMap(\.self) + others).first { $0.session.id == id }
    }

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
        let session = try await of(request, site)
        let current = session.flatMap { session in
            request.cookie(site.sessionCookie).map { HeldSessions.Held(session: session, secret: Secret($0)) }
        }
        let secrets = request.secretsSetAside(site)
        guard !secrets.isEmpty else { return HeldSessions(current: current, others: []) }
        let others = try await look(at: secrets).map { HeldSessions.Held(session: $0.session, secret: $0.secret) }
        return HeldSessions(current: current, others: others)
    }

    /// Ends the browser's sessions that rest because something they rest on is disabled: its user signed out, and they
    /// must not come back.
    package func endResting(of request: Request, _ site: Site) async throws {
        let current = request.cookie(site.sessionCookie).map { Secret<Session>($0) }
        try await endResting([current].compactMap(\.self) + request.secretsSetAside(site))
    }

    /// Ends the browser's current session if it rests and is good for `merchant` alone. Returns whether it did.
    package func endResting(of request: Request, _ site: Site, for merchant: Merchant.ID) async throws -> Bool {
        guard let current = request.cookie(site.sessionCookie) else { return false }
        return try await endResting([Secret(current)], of: merchant)
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
