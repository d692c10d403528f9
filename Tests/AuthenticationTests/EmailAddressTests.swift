import Authentication
import Directory
import Testing

@Suite("E-mail addresses as user names")
struct EmailAddressTests {
    @Test(
        "The domain of an e-mail address is stored in lower-case ASCII, however it is typed",
        arguments: [
            ("ada@example.com", "ada@example.com"), (" Ada@Example.COM ", "ada@example.com"),
            ("ada@ｅｘａｍｐｌｅ.com", "ada@example.com"), ("ada@example。com", "ada@example.com"),
            ("ada@bücher.example", "ada@xn--bcher-kva.example"), ("ada@BÜCHER.example", "ada@xn--bcher-kva.example"),
            ("ada@bu\u{308}cher.example", "ada@xn--bcher-kva.example"),
            ("ada@XN--BCHER-KVA.example", "ada@xn--bcher-kva.example"), ("ada+x@例え.jp", "ada+x@xn--r8jz45g.jp"),
            // An undeliverable address is kept unchanged.
            ("åda@Example.com", "åda@example.com"), ("ada@[IPv6:::1]", "ada@[ipv6:::1]"), ("ada@a..b", "ada@a..b"),
        ])
    func canonical(typed: String, text: String) throws {
        let address = try #require(EmailAddress(typed))
        #expect(address.text == text)
        #expect(EmailAddress(address.text) == address, "it is its own text")
    }

    @Test(
        "An e-mail address with the Kelvin sign, which lower-cases to k, is refused",
        arguments: ["\u{212A}ari@example.com"])
    func folded(text: String) { #expect(EmailAddress(text) == nil) }

    @Test(
        "A user's new e-mail address is refused if it resembles another or mail may not reach it",
        arguments: [
            "ada@example.com.", "ada..b@example.com", ".ada@example.com", "ada.@example.com", "\"ada\"@example.com",
            "\"a b\"@example.com", "ad\u{200B}a@example.com", "\u{430}da@example.com", "a\u{308}da@example.com",
            "ada@example..com", "ada(x)@example.com", "ada;x@example.com", "ada:x@example.com", "ada[x]@example.com",
            "ad\\a@example.com", "ada@exam/ple.com", String(repeating: "a", count: 65) + "@example.com",
        ])
    func unusual(text: String) {
        #expect(EmailAddress(new: text) == nil)
        #expect(EmailAddress(text)?.isOrdinary != true)
    }

    @Test(
        "Any ordinary e-mail address is accepted as a user's new address",
        arguments: [
            "ada@example.com", " Ada.B+news@Example.COM ", "o'brien_x-1@sub.example.com", "ada@bücher.example",
            "ada@localhost", "ada@[127.0.0.1]", "!#$%&'*+-/=?^_`{|}~@example.com",
        ])
    func ordinary(text: String) {
        #expect(EmailAddress(new: text) == EmailAddress(text) && EmailAddress(new: text) != nil)
    }

    @Test("An e-mail address has at most 254 bytes once its domain is in ASCII")
    func tooLong() {
        // 17 bytes each as xn--tda.
        let domain = String(repeating: "ü.", count: 10) + "example"
        #expect(EmailAddress("\(String(repeating: "a", count: 166))@\(domain)")?.text.utf8.count == 254)
        #expect(EmailAddress("\(String(repeating: "a", count: 167))@\(domain)") == nil)
    }
}
