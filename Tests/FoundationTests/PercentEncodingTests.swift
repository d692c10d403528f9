import Testing
import Text

/// Percent-encoding (RFC 3986 §2.1).
@Suite struct PercentEncodingTests {
    @Test("Percent-encoding keeps unreserved characters and encodes every other byte (RFC 3986 §2.3)")
    func encoding() {
        let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
        #expect(PercentEncoding.encode(unreserved) == unreserved)
        #expect(PercentEncoding.encode("a b+c/d?e=f&g%h") == "a%20b%2Bc%2Fd%3Fe%3Df%26g%25h")
        #expect(PercentEncoding.encode("é\u{0}\n") == "%C3%A9%00%0A")
        for byte in UInt8(0)..<0x80 where !unreserved.utf8.contains(byte) {
            #expect(PercentEncoding.encode(String(Unicode.Scalar(byte))).utf8.count == 3)
        }
    }

    @Test("Pairs are joined as a query or a form has them, both halves encoded")
    func pairs() {
        #expect(PercentEncoding.encode(pairs: [("a", "1 2"), ("b&", "="), ("c", "")]) == "a=1%202&b%26=%3D&c=")
        #expect(PercentEncoding.encode(pairs: []).isEmpty)
    }

    @Test("Percent-encoded text is decoded, in either case of its digits")
    func decoding() {
        let bytes = Array(UInt8.min...UInt8.max)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(PercentEncoding.decode(PercentEncoding.encode(text).utf8) == Array(text.utf8))
        #expect(PercentEncoding.decode("%c3%A9".utf8) == Array("é".utf8))
    }

    @Test("A broken percent-escape is an error", arguments: ["%", "a%4", "%zz", "%+F", "%-0", "%%41", "%4\u{e9}"])
    func broken(_ text: String) { #expect(PercentEncoding.decode(text.utf8) == nil) }

    @Test("A plus is a space in a form's fields, and a plus elsewhere")
    func plus() {
        #expect(PercentEncoding.decode("a+b%2B".utf8, ofForm: true) == Array("a b+".utf8))
        #expect(PercentEncoding.decode("a+b".utf8) == Array("a+b".utf8))
    }
}
