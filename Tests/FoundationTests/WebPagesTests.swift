import Directory
import Testing

@Suite("Recognising a client's web pages by their address")
struct WebPagesTests {
    private func pages(_ text: String) throws -> WebPages { try #require(WebPages(registering: text), "\(text)") }

    private func contains(_ pages: WebPages, _ text: String) -> Bool {
        PageAddress(text).map(pages.contain) ?? false
    }

    @Test("A client's registered origin includes every page of that origin")
    func origin() throws {
        let pages = try pages("https://www.loom.example:8443")
        for rest in [
            "", "/", "?a=b", "/?a=b", "/news/today?a=%2f..%2f&b=//x.example/..#top", "/%C3%A5", "/100%25", "/a;b=c/d",
            "/~ada/", "/#/route", "/...", "/.well-known/x", "?q=a|b{c}",
        ] {
            #expect(contains(pages, "https://www.loom.example:8443\(rest)"), "\(rest)")
        }
    }

    @Test(
        "A page of another origin, or with a malformed address, is not one of the client's",
        arguments: [
            "https://www.loom.example", "https://www.loom.example:84430/", "http://www.loom.example:8443/",
            "https://www.loom.example:8443.evil.example/", "https://www.loom.example:8443@evil.example/",
            "https://www.loom.example:8443%2f@evil.example/", "https://user@www.loom.example:8443/",
            "https://www.loom.example:8443\\@evil.example/", "https://www.loom.example:8443\\evil",
            "https:\\\\www.loom.example:8443/", "https:/www.loom.example:8443/", "//www.loom.example:8443/",
            "https:///www.loom.example:8443/", "HTTPS://www.loom.example:8443/", "https://WWW.loom.example:8443/",
            " https://www.loom.example:8443/", "https://www.loom.example:8443/\n", "https://www.loom.example:8443/\t/x",
            "https://www.loom.example:8443/\u{e5}", "https://www.loom.example.:8443/", "https://evil.example/",
            "https://evil.example/https://www.loom.example:8443/",
            "https://evil.example?https://www.loom.example:8443/",
            "https://evil.example#https://www.loom.example:8443/", "javascript://www.loom.example:8443/%0aalert(1)",
            "loom://www.loom.example:8443/", "https://[::1]:8443/", "https://www.loom.example:08443/", "",
            "https://www.loom.example:8443/a\"b", "https://www.loom.example:8443/<b>",
        ])
    func elsewhere(text: String) throws {
        #expect(!contains(try pages("https://www.loom.example:8443"), text))
    }

    @Test("A client's registered path includes itself and what is below it, and nothing else")
    func below() throws {
        let news = try pages("https://www.loom.example/news")
        for rest in ["/news", "/news/", "/news?a=b", "/news#a", "/news/a/b.html", "/n%65ws/a", "/news/a%20b"] {
            #expect(contains(news, "https://www.loom.example\(rest)"), "\(rest)")
        }
        for rest in ["", "/", "/newspaper", "/new", "/News", "/a/news", "/?/news", "/#/news", "/news%3f"] {
            #expect(!contains(news, "https://www.loom.example\(rest)"), "\(rest)")
        }
        let folder = try pages("https://www.loom.example/~ada/")
        for rest in ["/~ada/", "/%7Eada/", "/~ada/?a", "/~ada/x"] {
            #expect(contains(folder, "https://www.loom.example\(rest)"), "\(rest)")
        }
        for rest in ["/~ada", "/~adam/", "/~ada%2f", "/~ada?/"] {
            #expect(!contains(folder, "https://www.loom.example\(rest)"), "\(rest)")
        }
    }

    @Test(
        "A path that servers may read in two ways is no page of the client",
        arguments: [
            "/news/../admin", "/news/..", "/news/.", "/news/./a", "/news/%2e%2e/admin", "/news/%2E./admin",
            "/news/.%2e", "/news/%252e%252e/admin", "/news/%25252e%25252e/admin",
            "/news/%252e%252e%252fadmin%25", "/news/%25%2532e%252e", "/news/..;/admin", "/news/..;a=b/c",
            "/news/%2e%2e;/admin", "/news/%2fadmin", "/news/..%2fadmin", "/news/a%2Fb", "/news/a%252fb",
            "/news/a%5cb", "/news/..%5cadmin", "/news/a%255cb", "/news\\..\\admin", "//news", "/news//a", "/news//",
            "/news/%0d%0aLocation:x", "/news/%00", "/news/%7f", "/news/%zz", "/news/%2", "/news/%",
            "/news/%c0%ae%c0%ae/",
            "/news/%c0%af", "/news/%ff",
        ])
    func doubtful(rest: String) throws {
        for prefix in ["https://www.loom.example", "https://www.loom.example/news", "https://www.loom.example/news/"] {
            #expect(!contains(try pages(prefix), "https://www.loom.example\(rest)"), "\(prefix)")
        }
    }

    @Test("An address of more than 2000 bytes is no page of the client")
    func long() throws {
        let pages = try pages("https://www.loom.example")
        #expect(contains(pages, "https://www.loom.example/" + String(repeating: "a", count: 1900)))
        #expect(!contains(pages, "https://www.loom.example/" + String(repeating: "a", count: 2000)))
    }

    @Test("An address that is percent-encoded more than five times is no page of the client")
    func layers() throws {
        let pages = try pages("https://www.loom.example")
        for (layers, isPage) in [(1, true), (5, true), (6, false), (900, false)] {
            let address = "https://www.loom.example/%" + String(repeating: "25", count: layers)
            #expect(contains(pages, address) == isPage, "\(layers)")
            #expect((WebPages(registering: address) != nil) == isPage, "\(layers)")
        }
    }

    @Test(
        "Only an origin, or an origin with a plain path, can be registered as a web page",
        arguments: [
            "https://www.loom.example/", "https://www.loom.example?a", "https://www.loom.example#a",
            "https://www.loom.example/a?b", "https://www.loom.example/a#b", "https://www.loom.example:443",
            "https://www.loom.example:443/a", "https://WWW.loom.example/a", "http://www.loom.example/a",
            "https://www.loom.example/a/../b", "https://www.loom.example//a", "https://u@www.loom.example/a",
            "https://*.loom.example/a", "https://www.loom.example/a;b\\", "loom://a/b", "/a", "", "https:///a",
        ])
    func registering(text: String) {
        #expect(WebPages(registering: text) == nil)
    }

    @Test("A registered path yields its origin: scheme, host and port")
    func originOfPath() throws {
        #expect(try pages("https://www.loom.example/news").origin == "https://www.loom.example")
        #expect(try pages("http://localhost:3000/a/b/").origin == "http://localhost:3000")
        #expect(try pages("https://[2001:db8::1]:8443/a").origin == "https://[2001:db8::1]:8443")
    }
}
