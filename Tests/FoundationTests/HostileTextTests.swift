import Testing
import Values

@Suite("IP addresses with control bytes")
struct HostileTextTests {
    @Test(
        "An IP address with a NUL in it is refused",
        arguments: ["192.0.2.1\u{0}", "192.0.2.1\u{0}.example.com", "::1\u{0}", "::ffff:192\u{0}0.2.1", "\u{0}"])
    func addresses(_ text: String) {
        #expect(IPAddress(text) == nil)
        #expect(CIDR(text) == nil)
        #expect(CIDR("\(text)/32") == nil)
    }
}
