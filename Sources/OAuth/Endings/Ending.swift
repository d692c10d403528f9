import Directory
import Values

/// The one decision about ends (docs/model.md): rows in, decisions out. What carries it out is in Ending+causes.swift.
struct Ending: Sendable {
    /// A token family that has not ended, as far as an end asks.
    struct Family: Sendable {
        let path: TokenFamily.Path
        /// Whether it lasts no longer than its session.
        let isPassing: Bool
        /// Whether it lives on when the app that opened its web view signs out. An app's does not: what holds an app's
        /// token can have what another app gets.
        let outlivesApps: Bool
        var id: TokenFamily.ID { path.family }
    }

    /// A session that a token bought and that has not ended.
    struct WebView: Sendable {
        let id: Session.ID
        /// That of the family which bought it.
        let path: TokenFamily.Path
    }

    /// The families that end by what happened, before what follows from it.
    let roots: Set<TokenFamily.Path>
    /// Whether also what backends have ends, which they got by codes or in web views.
    var reachesBackends = false

    /// What ends with the roots: they themselves, the web views that they bought, and of what was got in these the
    /// passing tokens and those of apps; and so on from each of them.
    ///
    /// - Parameters:
    ///   - families: those below the roots. One that is missing has ended before, or is forgotten.
    ///   - webViews: all that the user has.
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
