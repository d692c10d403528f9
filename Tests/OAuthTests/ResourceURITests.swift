import Testing

@testable import Directory

@Suite("Resource URIs in normal form")
struct ResourceURITests {
    @Test(
        "A resource URI in its normal form is accepted unchanged",
        arguments: [
            "https://api.example", "https://api.example/", "https://api.example/v1", "https://api.example/v1/",
            "https://api.example:8443/a//b?c=d&e=%2F", "http://127.0.0.1:81/x",
            "https://[2001:db8::1]/x", "https://xn--bcher-kva.example/%C3%A5", "urn:example:Orders", "api://orders/x",
            "com.example.api:/orders", "tag:example.com,2026:x",
        ])
    func normal(text: String) { #expect(ResourceURI.normal(text) == text) }

    @Test(
        "Another spelling of a resource URI is changed to its normal form",
        arguments: [
            ("HTTPS://api.a.example", "https://api.a.example"), ("https://API.A.example", "https://api.a.example"),
            ("https://api.a.example:443", "https://api.a.example"), ("https://api.a.example:", "https://api.a.example"),
            ("https://api.a.example:0443/", "https://api.a.example/"), ("http://a.example:80", "http://a.example"),
            ("https://api.a.example?", "https://api.a.example"), ("https://api.a.example/?", "https://api.a.example/"),
            ("https://api.a.example./v1", "https://api.a.example/v1"), ("https://a%70i.example", "https://api.example"),
            ("https://api.a.example/./v1", "https://api.a.example/v1"),
            ("https://a.example/x/../v1", "https://a.example/v1"),
            ("https://a.example/x/%2E%2e/v1", "https://a.example/v1"), ("https://a.example/..", "https://a.example/"),
            ("https://a.example/v1/.", "https://a.example/v1/"), ("https://a.example/%761", "https://a.example/v1"),
            ("https://a.example/%c3%a5?%7e", "https://a.example/%C3%A5?~"),
            ("https://a.example/å", "https://a.example/%C3%A5"),
            ("https://bücher.example", "https://xn--bcher-kva.example"), ("https://2130706433/", "https://127.0.0.1/"),
            ("https://[2001:DB8:0::1]", "https://[2001:db8::1]"), ("URN:Example:Orders", "urn:example:Orders"),
            ("API://Orders/X", "api://orders/X"),
        ])
    func spellings(text: String, normal: String) throws {
        #expect(ResourceURI.normal(text) == normal)
        #expect(ResourceURI.normal(normal) == normal, "it is its own normal form")
    }

    @Test(
        "A text that is no absolute URI, or has a user or a fragment, has no normal form as a resource",
        arguments: [
            "", "api", "/v1", "https:", "https:api.example", "https://", "https:///v1", "https://api.example/#",
            "https://api.example/#x", "https://user@api.example", "https://u:p@api.example", "https://api.example/a b",
            "https://api.example\\@b.example", "https://api.example/\\x", "https://api.example/%",
            "https://api.example/%4",
            "https://api.example/%zz", "https://api.example/%+1", "https://api.example:x/",
            "https://api.example:65536/",
            "https://api.example:+1/", "1a:b", "urn:x", "https://api.example/\"", "https://api.example/\r\nx",
        ])
    func none(text: String) { #expect(ResourceURI.normal(text) == nil) }

    @Test("A host's root is the same resource with and without its slash; another path is not")
    func roots() {
        let both = Set(["https://a.example", "https://a.example/"])
        for text in both { #expect(Set(ResourceURI.equivalents(of: text)) == both) }
        #expect(
            Set(ResourceURI.equivalents(of: "https://a.example?x")) == ["https://a.example?x", "https://a.example/?x"])
        for text in ["https://a.example/v1", "https://a.example/v1/", "https://a.example//", "urn:example:x"] {
            #expect(ResourceURI.equivalents(of: text) == [text])
        }
    }
}
