import Testing
import Values

@Suite("What the fuzzers of Tests/Fuzz found")
struct HostileTextTests {
    @Test(
        "an address is read as far as its first NUL, and what stands behind it goes unread",
        arguments: ["192.0.2.1\u{0}", "192.0.2.1\u{0}.example.com", "::1\u{0}", "::ffff:192\u{0}0.2.1", "\u{0}"])
    func addresses(_ text: String) {
        #expect(IPAddress(text) == nil)
        #expect(CIDR(text) == nil)
        #expect(CIDR("\(text)/32") == nil)
    }
}
