import HTTP
import Testing

@testable import HTTPSupport

@Suite("Route templates share a tree")
struct RouteTableTests {
    /// The template that `path` leads to; nil for none.
    private func template(_ path: String, among templates: [String]) -> String? {
        var routes = Routes()
        for template in templates { routes.get(template) { _, _ in Response(status: .ok) } }
        let table = RouteTable(routes.all)
        let number = table.find(.get, path)
        return number == RouteTable.notFound ? nil : table.routes[number].template.text
    }

    @Test("a fixed segment goes before a parameter, whichever was added first")
    func precedence() {
        for templates in [["/a/{b}", "/a/b"], ["/a/b", "/a/{b}"]] {
            #expect(template("/a/b", among: templates) == "/a/b")
            #expect(template("/a/c", among: templates) == "/a/{b}")
            #expect(template("/a/", among: templates) == nil)
        }
    }

    @Test("a parameter is tried where the fixed segment leads nowhere")
    func backtracking() {
        let templates = ["/a/b/c", "/a/{x}/d", "/{y}/b/e", "/a/b"]
        for (path, expected) in [
            ("/a/b/c", "/a/b/c"), ("/a/b/d", "/a/{x}/d"), ("/a/b/e", "/{y}/b/e"), ("/a/b", "/a/b"), ("/a/c", nil),
            ("/a/b/f", nil), ("/z/b/e", "/{y}/b/e"), ("/", nil), ("", nil),
        ] {
            #expect(template(path, among: templates) == expected, "\(path)")
        }
    }

    @Test("HEAD leads to a GET that is safe, and to no other route")
    func head() {
        var routes = Routes()
        routes.get("/page", isSafe: true) { _, _ in Response(status: .ok) }
        routes.post("/page") { _, _ in Response(status: .ok) }
        routes.get("/code") { _, _ in Response(status: .ok) }
        let table = RouteTable(routes.all)
        #expect(table.find(.head, "/page") == table.find(.get, "/page"))
        #expect(table.find(.head, "/code") != table.find(.get, "/code"))
        #expect(table.find(.head, "/other") == RouteTable.notFound)
    }

    @Test("a parameter's value is its segment as it was sent")
    func values() throws {
        let parameters = PathParameters(path: "//a/x%2Fy/b//z/", template: PathTemplate("/a/{first}/b/{second}"))
        #expect(try parameters.require("first") == "x%2Fy")
        #expect(try parameters.require("second") == "z")
        #expect(parameters.all.map(\.name) == ["first", "second"])
        #expect(throws: HTTPRefusal.self) { try parameters.require("third") }
    }
}
