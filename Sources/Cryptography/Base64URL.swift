import COpenSSL

/// base64url without padding (RFC 4648 §5), the encoding of tokens, fingerprints and JOSE.
public enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let none: UInt8 = 255
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: none, count: 256)
        for (value, letter) in alphabet.enumerated() { values[Int(letter)] = UInt8(value) }
        return values
    }()

    /// Encodes `bytes` without padding.
    public static func encode(_ bytes: [UInt8]) -> String {
        unsafe String(unsafeUninitializedCapacity: length(of: bytes)) { unsafe write(bytes, to: $0) }
    }

    /// Appends `bytes`, encoded without padding, to `text`.
    public static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        let length = length(of: bytes)
        text.append(
            contentsOf: unsafe [UInt8](unsafeUninitializedCapacity: length) { unsafe $1 = write(bytes, to: $0) })
    }

    private static func length(of bytes: [UInt8]) -> Int { (bytes.count * 4 + 2) / 3 }

    private static func write(_ bytes: [UInt8], to text: UnsafeMutableBufferPointer<UInt8>) -> Int {
        unsafe alphabet.withUnsafeBufferPointer { letters in
            var count = 0
            // Three bytes are four letters; the last group may be shorter.
            for start in stride(from: 0, to: bytes.count, by: 3) {
                let length = min(3, bytes.count - start)
                let second = length > 1 ? bytes[start + 1] : 0
                let third = length > 2 ? bytes[start + 2] : 0
                let group = Int(bytes[start]) << 16 | Int(second) << 8 | Int(third)
                unsafe text[count] = letters[group >> 18]
                unsafe text[count + 1] = letters[group >> 12 & 63]
                if length > 1 { unsafe text[count + 2] = letters[group >> 6 & 63] }
                if length > 2 { unsafe text[count + 3] = letters[group & 63] }
                count += length + 1
            }
            return count
        }
    }

    /// Decodes `text`, or returns nil when it is not canonical base64url without padding.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let utf8 = text.utf8
        return unsafe utf8.withContiguousStorageIfAvailable { unsafe decode($0) }
            ?? Array(utf8).withUnsafeBufferPointer { unsafe decode($0) }
    }

    private static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        let values = values
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var pending: UInt32 = 0
        var bits: UInt32 = 0
        for index in text.indices {
            let value = unsafe values[Int(text[index])]
            guard value != none else { return nil }
            pending = pending << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: pending >> bits))
            }
        }
        // Two texts must not decode to the same bytes: no character may be left over, and no bit dropped.
        guard bits < 6, pending & (1 << bits - 1) == 0 else { return nil }
        return bytes
    }
}

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
