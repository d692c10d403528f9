public import Directory
public import Values

/// The one decision about ends (docs/model.md): rows in, decisions out. Ending+causes.swift carries it out.
struct Ending: Sendable {
    /// What an end needs to know of a live token family.
    struct Family: Sendable {
        let path: TokenFamily.Path
        /// Whether it lasts no longer than its session.
        let isPassing: Bool
        /// Whether it lives on when the app that opened its web view signs out. An app's does not: what holds an app's
        /// token can have what another app gets.
        let outlivesApps: Bool
        var id: TokenFamily.ID { path.family }
    }

    /// A live session that a token bought.
    struct WebView: Sendable {
        let id: Session.ID
        /// The path of the family that bought it.
        let path: TokenFamily.Path
    }

    /// The families that the cause itself ends, before what follows from them.
    let roots: Set<TokenFamily.Path>
    /// Whether tokens that backends got by codes or in web views end too.
    var reachesBackends = false

    /// What ends with the roots: the roots, the web views they bought, and of the families got there the passing ones
    /// and those of apps, each with its own descendants.
    /// - Parameters: `families` are those below the roots; a missing one has ended before or is forgotten. `webViews`
    ///   are all that the user has.
    func plan(_ families: [Family], _ webViews: [WebView]) -> (families: [TokenFamily.ID], sessions: [Session.ID]) {
        let known = Dictionary(families.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
        var decided = Dictionary(uniqueKeysWithValues: roots.map { ($0, true) })
        func ends(_ path: TokenFamily.Path) -> Bool {
            if let known = decided[path] { return known }
            guard let parent = path.parent, let step = path.step, ends(parent) else {
                decided[path] = false
                return false
            }
            let family = known[path]
            let outcome =
                switch step {
                case .webView: reachesBackends || family.map { $0.isPassing || !$0.outlivesApps } ?? true
                case .code: reachesBackends
                }
            decided[path] = outcome
            return outcome
        }
        let ending = roots.map(\.family) + families.filter { !roots.contains($0.path) && ends($0.path) }.map(\.id)
        return (ending, webViews.filter { ends($0.path) }.map(\.id))
    }
}

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
