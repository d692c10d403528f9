import Directory
import TestSupport
import Testing
import Values

@testable import OAuth

@Suite("Ends by the path of a token family")
struct EndingTests {
    private static let root = TokenFamily.Path(id(0))

    private static func id(_ number: Int) -> TokenFamily.ID {
        let text = String(number, radix: 16)
        return TokenFamily.ID(String(repeating: "0", count: 28 - text.count) + text)
    }

    private static func family(
        _ path: TokenFamily.Path, isPassing: Bool = false, outlivesApps: Bool = true
    ) -> Ending.Family {
        Ending.Family(path: path, isPassing: isPassing, outlivesApps: outlivesApps)
    }

    private static func byCode(_ number: Int, of path: TokenFamily.Path) -> TokenFamily.Path {
        TokenFamily.Path(stored: path.text + "2" + id(number).text)
    }

    @Test("Ending a token family ends its web views' passing and app tokens, but not a backend's lasting ones")
    func webView() {
        let families = [
            Self.family(Self.root.webView(Self.id(1)), isPassing: true),
            Self.family(Self.root.webView(Self.id(2)), outlivesApps: false), Self.family(Self.root.webView(Self.id(3))),
            Self.family(Self.byCode(4, of: Self.root)),
        ]
        let views = [Ending.WebView(id: "view", path: Self.root), Ending.WebView(id: "other", path: .init(Self.id(9)))]
        let plan = Ending(roots: [Self.root]).plan(families, views)
        #expect(Set(plan.families) == [Self.id(0), Self.id(1), Self.id(2)])
        #expect(plan.sessions == ["view"])
        let all = Ending(roots: [Self.root], reachesBackends: true).plan(families, views)
        #expect(Set(all.families) == Set((0...4).map(Self.id)))
    }

    @Test("A web view that a backend's lasting tokens bought does not end with the app's token family")
    func backend() {
        let lasting = Self.root.webView(Self.id(1))
        let families = [Self.family(lasting), Self.family(lasting.webView(Self.id(2)), outlivesApps: false)]
        let plan = Ending(roots: [Self.root]).plan(families, [Ending.WebView(id: "view", path: lasting)])
        #expect(plan.families == [Self.id(0)])
        #expect(plan.sessions.isEmpty)
    }

    @Test("A deleted token family in a path passes on an end if it came from a web view, not from a code")
    func forgotten() {
        let inView = Self.root.webView(Self.id(1)).webView(Self.id(2))
        let byCode = Self.byCode(3, of: Self.root).webView(Self.id(4))
        let families = [Self.family(inView, isPassing: true), Self.family(byCode, isPassing: true)]
        #expect(Set(Ending(roots: [Self.root]).plan(families, []).families) == [Self.id(0), Self.id(2)])
        let reached = Ending(roots: [Self.root], reachesBackends: true).plan(families, [])
        #expect(Set(reached.families) == [Self.id(0), Self.id(2), Self.id(4)])
    }

    @Test("A token family that does not descend from an ended one lives on, even if their ids begin alike")
    func others() {
        let other = TokenFamily.Path(Self.id(7))
        let families = [Self.family(other), Self.family(other.webView(Self.id(8)), isPassing: true)]
        #expect(Ending(roots: [Self.root]).plan(families, []).families == [Self.id(0)])
    }

    @Test("The path of a token family tells its ancestors, and whether each step was a code or a web view")
    func path() {
        let path = Self.byCode(2, of: Self.root.webView(Self.id(1)))
        #expect(path.count == 3 && path.family == Self.id(2) && path.step == .code && !path.isRoot)
        #expect(path.parent == Self.root.webView(Self.id(1)) && path.parent?.step == .webView)
        #expect(Self.root.isRoot && Self.root.parent == nil && Self.root.step == nil && Self.root.count == 1)
        #expect(path.isWithin(Self.root) && !Self.root.isWithin(path))
    }
}
