import HTTP
import HTTPSupport
import Testing
import Values

@Suite("Client addresses")
struct ClientAddressTests {
    private static let peer = "127.0.0.1"

    private func address(_ fields: [String]) -> String {
        let trusted = [CIDR("127.0.0.1"), CIDR("10.0.0.0/8")].compactMap(\.self)
        var request = Request(method: .get, target: Target("/"), peer: Self.peer)
        for field in fields { request.headers.append(Field(name: .forwarded, value: field)) }
        return ClientAddress(trustedProxies: trusted).of(request)
    }

    @Test(
        "A host that the proxy quotes in Forwarded cannot set the client's address",
        arguments: [
            #"proto=https;host="x;for=6.6.6.6";for=5.5.5.5"#, #"for=5.5.5.5;proto=https;host="x,for=6.6.6.6""#,
            #"for="5.5.5.5";host="a\",for=6.6.6.6""#, #"host="a\";for=6.6.6.6";for=5.5.5.5"#,
        ])
    func quoted(field: String) { #expect(address([field]) == "5.5.5.5") }

    @Test(
        "No client address is taken from a Forwarded element that names two addresses or is malformed",
        arguments: [
            "for=6.6.6.6;for=5.5.5.5", "for=6.6.6.6;FOR=5.5.5.5", #"for=6.6.6.6;host="x"#, #"host="x;for=6.6.6.6"#,
            #"for="6.6.6.6"#, #"for=6.6.6.6";host=x"#, #"for="6.6.6.6";host="a\""#,
            #"for=6.6.6.6, for=10.0.0.1;host="x"#,
        ])
    func malformed(field: String) { #expect(address([field]) == Self.peer) }

    @Test(
        "The client's address is the nearest in Forwarded that is not a trusted proxy's",
        arguments: [
            ([#"for=5.5.5.5;proto=https;host="id.example.com""#], "5.5.5.5"),
            ([#"proto=https;host="x";For = "5.5.5.5:4711" ; by=10.0.0.2"#], "5.5.5.5"),
            ([#"for="[2001:db8::1]:4711""#], "2001:db8::/64"),
            (["for=6.6.6.6, for=5.5.5.5, for=10.0.0.1"], "5.5.5.5"), (["for=6.6.6.6", "for=5.5.5.5"], "5.5.5.5"),
            ([#"for=6.6.6.6;host=""#, "for=5.5.5.5"], "5.5.5.5"), ([", ,for=5.5.5.5;"], "5.5.5.5"),
            (["for=6.6.6.6, for=_hidden, for=10.0.0.1"], "127.0.0.1"),
        ])
    func nearest(fields: [String], expected: String) { #expect(address(fields) == expected) }

    @Test(
        "An IP address with a NUL in it is refused",
        arguments: ["192.0.2.1\u{0}", "192.0.2.1\u{0}.example.com", "::1\u{0}", "::ffff:192\u{0}0.2.1", "\u{0}"])
    func addresses(_ text: String) {
        #expect(IPAddress(text) == nil)
        #expect(CIDR(text) == nil)
        #expect(CIDR("\(text)/32") == nil)
    }
}
