public import Directory

extension TokenFamilies {
    /// Ends tokens with what they came from, and tells the clients of browser sessions that ended.
    ///
    /// - Parameter signUpClient: the client to whose address the link of an app's sign-up leads.
    public static func subscriber(
        telling callbacks: Callbacks, signUpClient: @escaping @Sendable (String) -> Client.ID?
    ) -> UserEvents.Subscriber {
        UserEvents.Subscriber(
            "TokenFamilies",
            [
                .on(
                    .browserEnded,
                    "ends the token families that last no longer than the browser session, and tells their clients"
                ) {
                    event, user, announcement, db in
                    guard case .browserEnded(let session) = event else { return }
                    try end(with: .one(session), of: user, telling: callbacks.announcement(for: announcement), in: db)
                },
                .on(
                    .everyBrowserEnded,
                    "ends the token families that last no longer than those browser sessions, and tells their clients"
                ) {
                    event, user, announcement, db in
                    guard case .everyBrowserEnded(let kept) = event else { return }
                    let callbacks = callbacks.announcement(for: announcement)
                    try end(with: .all(except: kept), of: user, telling: callbacks, in: db)
                },
                .on(.accessRevoked, "ends every token family, and tells the clients of browser sessions") {
                    event, user, announcement, db in
                    guard case .accessRevoked(let kept) = event else { return }
                    let callbacks = callbacks.announcement(for: announcement)
                    // First: afterwards nothing tells which clients have a session of the user.
                    try end(with: .all(except: kept), of: user, telling: callbacks, in: db)
                    try endAll(of: user, at: announcement.now, in: db)
                },
                .on(.unlinked, "ends the token families that rest on that issuer, except those of the browser session")
                {
                    event, user, announcement, db in
                    guard case .unlinked(let issuer, let kept, _) = event else { return }
                    try end(
                        of: user, assertedBy: issuer, except: kept, telling: callbacks.announcement(for: announcement),
                        in: db)
                },
                .on(
                    .methodRevoked,
                    "ends the token families that were got so, with what came from them, except in the browser session"
                ) {
                    event, user, announcement, db in
                    guard case .methodRevoked(let method, let kept) = event else { return }
                    try end(
                        of: user, gotBy: method, except: kept, telling: callbacks.announcement(for: announcement),
                        in: db)
                },
                .on(.takenOver, "deletes consents, connections, introductions and agreements, and tells the clients") {
                    event, user, announcement, db in
                    guard case .takenOver(let signUp) = event else { return }
                    let callbacks = callbacks.announcement(for: announcement)
                    try forget(user, except: signUp.flatMap(signUpClient), telling: callbacks, announcement, in: db)
                },
            ], afterCommit: callbacks.deliver)
    }
}
