import Cryptography
import Foundation
import Testing

@Suite("Base64url") struct Base64URLTests {
    @Test("Base64url passes RFC 4648's examples, without their padding")
    func examples() {
        let pairs = [
            "": "", "f": "Zg", "fo": "Zm8", "foo": "Zm9v", "foob": "Zm9vYg", "fooba": "Zm9vYmE", "foobar": "Zm9vYmFy",
        ]
        for (text, encoded) in pairs {
            #expect(Base64URL.encode(Array(text.utf8)) == encoded)
            #expect(Base64URL.decode(encoded) == Array(text.utf8))
        }
        #expect(Base64URL.encode([0xfb, 0xff]) == "-_8")
    }

    @Test("Any bytes survive base64url, and Foundation agrees")
    func roundTrip() {
        for length in 0...100 {
            let bytes = SystemRandom().bytes(length)
            let text = Base64URL.encode(bytes)
            let standard = Data(bytes).base64EncodedString()
                .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
            #expect(text == standard)
            #expect(Base64URL.decode(text) == bytes)
        }
    }

    @Test(
        "Base64url refuses a second spelling of the same bytes",
        arguments: [
            "Zg==", "Zh", "Zm9", "Zm8=", "A", "Zm9vA", "+/8", "Zm9v\n", " Zm9v", "Zm 9v", "Zm9v.", "Zé9v", "\u{212A}g",
        ])
    func canonical(_ text: String) {
        #expect(Base64URL.decode(text) == nil)
    }
}
