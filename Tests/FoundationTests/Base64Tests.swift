import Cryptography
import Foundation
import Testing

@Suite struct Base64Tests {
    @Test("Base64 is read and written as another implementation does, at every length")
    func lengths() {
        for length in 0..<200 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ length &* 7) }
            let text = Base64.encode(bytes)
            #expect(text == Data(bytes).base64EncodedString())
            #expect(Base64.decode(text) == bytes)
        }
    }

    @Test(
        "Text that is not padded base64 is refused",
        arguments: [
            "Q", "QQ", "QUI", "QQ=", " QQ==", "QQ==\n", "QUJD\n", "QUJDQ\nI=", "Q=Q=", "====", "A===", "QUJD=", "=QUJ",
            "QQ==QQ==", "-_-_", "QUJ\0", "QUJÄ", "QUJD-===",
        ])
    func refusals(_ text: String) { #expect(Base64.decode(text) == nil) }

    @Test("Base64 is read even if its unused last bits are not zero")
    func leftOver() { #expect(Base64.decode("QR==") == [0x41]) }

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

    @Test("Base64url is decoded to the bytes that it encodes, and is written as Foundation writes it")
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
        "Base64url with padding, spare bits, foreign characters or an impossible length is refused",
        arguments: [
            "Zg==", "Zh", "Zm9", "Zm8=", "A", "Zm9vA", "+/8", "Zm9v\n", " Zm9v", "Zm 9v", "Zm9v.", "Zé9v", "\u{212A}g",
        ])
    func canonical(_ text: String) {
        #expect(Base64URL.decode(text) == nil)
    }
}
