public import Directory

extension TokenFamilies {
    /// Ends sessions and token families on user events, and notifies the sites of sessions that ended.
    /// - Parameter signUpClient: the client that the link of an app's sign-up leads to.
    public static func subscriber(
        telling callbacks: Callbacks, signUpClient: @escaping @Sendable (String) -> Client.ID?
    ) -> UserEvents.Subscriber {
        let ends = Ending.causes.map { kind, summary in
            UserEvents.Reaction.on(kind, summary) { event, user, announcement, db in
                let callbacks = callbacks.announcement(for: announcement)
                try Ending.carryOut(event, of: user, telling: callbacks, at: announcement.now, in: db)
            }
        }
        let forgetting = UserEvents.Reaction.on(
            .takenOver, "deletes consents, connections, introductions and agreements, and tells the clients"
        ) { event, user, announcement, db in
            guard case .takenOver(let signUp) = event else { return }
            let callbacks = callbacks.announcement(for: announcement)
            try forget(user, except: signUp.flatMap(signUpClient), telling: callbacks, announcement, in: db)
        }
        return UserEvents.Subscriber("TokenFamilies", ends + [forgetting], afterCommit: callbacks.deliver)
    }
}
