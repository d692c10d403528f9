import COpenSSL

/// base64 with padding (RFC 4648 §4), for Basic credentials, PEM and mails.
public enum Base64 {
    public static func encode(_ bytes: [UInt8]) -> String {
        var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
        let length = unsafe EVP_EncodeBlock(&text, bytes, Int32(bytes.count))
        return String(decoding: text.prefix(Int(length)), as: UTF8.self)
    }

    /// Decodes `text`; nil when a character is missing or not in the alphabet.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let text = Array(text.utf8)
        let padding = text.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        // OpenSSL skips white space, and takes padding for zeros.
        guard text.count % 4 == 0, padding <= 2, text.dropLast(padding).allSatisfy(isLetter),
            let count = Int32(exactly: text.count)
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: text.count / 4 * 3)
        guard unsafe EVP_DecodeBlock(&bytes, text, count) == bytes.count else { return nil }
        return bytes.dropLast(padding)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
            true
        default: false
        }
    }
}
