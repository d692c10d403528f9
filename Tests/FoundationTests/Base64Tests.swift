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
        "Text that is no base64 with padding is refused",
        arguments: [
            "Q", "QQ", "QUI", "QQ=", " QQ==", "QQ==\n", "QUJD\n", "QUJDQ\nI=", "Q=Q=", "====", "A===", "QUJD=", "=QUJ",
            "QQ==QQ==", "-_-_", "QUJ\0", "QUJÄ", "QUJD-===",
        ])
    func refusals(_ text: String) { #expect(Base64.decode(text) == nil) }

    @Test("Base64 is read even if its unused last bits are not zero")
    func leftOver() { #expect(Base64.decode("QR==") == [0x41]) }
}
