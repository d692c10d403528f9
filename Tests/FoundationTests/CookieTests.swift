import HTTP
import HTTPSupport
import Testing

@Suite("Reading the server's cookies")
struct CookieTests {
    private static let name = "spindle_session"
    private static let value = "abcdefghijklmnop"
    private static let other = "ABCDEFGHIJKLMNOP"
    private static let long = String(repeating: "a", count: 129)

    private func cookie(_ fields: String...) -> String? {
        var request = Request(method: .get, target: Target("/"))
        for field in fields { request.headers.append(Field(name: .cookie, value: field)) }
        return request.cookie(Self.name)
    }

    @Test(
        "A cookie is found wherever it stands in the Cookie field",
        arguments: [
            "\(name)=\(value)", "a=b; \(name)=\(value); c=d", "a=b;\(name)=\(value);c=d", ";;   \(name)=\(value);",
            "\(name)2=\(other); \(name)=\(value); x\(name)=\(other)", "\(name); \(name)=\(value)",
            "\(name) =\(other); \(name)=\(value)", "a=\(name)=\(other); \(name)=\(value)",
        ])
    func found(field: String) { #expect(cookie(field) == Self.value) }

    @Test("A cookie's value may contain equals signs")
    func equals() { #expect(cookie("a=b; \(Self.name)=\(Self.value)=x=; c=d") == Self.value + "=x=") }

    @Test(
        "A cookie with another name or of the wrong length is ignored",
        arguments: [
            "", "\(name)", "\(name)=", "\(name)2=\(value)", "x\(name)=\(value)", "\(name) =\(value)",
            "a=\(name)=\(value)", "\(name)=short", "\(name)=\(long)",
        ])
    func strange(field: String) { #expect(cookie(field) == nil) }

    @Test("A cookie that is sent twice is ignored")
    func twice() {
        let (pair, second) = ("\(Self.name)=\(Self.value)", "\(Self.name)=\(Self.other)")
        for next in [pair, second, "\(Self.name)="] {
            #expect(cookie("\(pair); \(next)") == nil)
            #expect(cookie("a=b; \(pair)", next) == nil)
        }
        #expect(cookie("a=b", pair) == Self.value)
    }

    @Test("A cookie is found among thousands of others")
    func many() {
        let others = String(repeating: "a=b; ", count: 6500)
        #expect(cookie("\(others)\(Self.name)=\(Self.value); \(others)") == Self.value)
        #expect(cookie(others) == nil)
    }
}
