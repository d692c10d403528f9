/// Percent-encoding (RFC 3986 §2.1), as URLs and forms have it.
public enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// `text` with every byte of its UTF-8 percent-encoded, except unreserved characters (RFC 3986 §2.3). The result
    /// means the same in a path, a query, a fragment and an `application/x-www-form-urlencoded` body, where a space may
    /// be `%20` as well as `+`.
    public static func encode(_ text: some StringProtocol) -> String {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isUnreserved(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// `name=value&…`: pairs as a query or a form, both halves encoded.
    public static func encode(pairs: [(name: String, value: String)]) -> String {
        pairs.map { "\(encode($0.name))=\(encode($0.value))" }.joined(separator: "&")
    }

    /// The bytes that `text` stands for; nil when an escape is broken. In a form's fields a `+` is a space.
    public static func decode(_ text: some Collection<UInt8>, ofForm: Bool = false) -> [UInt8]? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(text.count)
        var rest = text[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(value), let low = rest.popFirst().flatMap(value) else {
                    return nil
                }
                decoded.append(high << 4 | low)
            case UInt8(ascii: "+") where ofForm: decoded.append(UInt8(ascii: " "))
            default: decoded.append(byte)
            }
        }
        return decoded
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// What a hexadecimal digit counts.
    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
