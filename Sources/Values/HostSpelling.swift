import Glibc
import InternationalText
import Text

/// One spelling for all the ways to write a host that browsers accept (WHATWG URL §3.5): case, percent-escapes, letters
/// of other scripts, trailing dots, and numbers that form an IPv4 address.
public enum HostSpelling {
    /// The host that `text` means, in ASCII and lower case; an IP address in its usual form, without brackets. Nil for
    /// a text that no browser accepts as a host.
    public static func plain(_ text: some StringProtocol) -> String? {
        guard let decoded = decoded(text) else { return nil }
        if decoded.hasPrefix("["), decoded.hasSuffix("]") {
            return IPAddress(String(decoded.dropFirst().dropLast()))?.description
        }
        guard let name = decoded.utf8.allSatisfy({ $0 < 0x80 }) ? decoded.lowercased() : HostName.ascii(decoded) else {
            return nil
        }
        let host = name.lowercased().trimmingSuffix { $0 == "." }
        guard !host.isEmpty, !host.utf8.contains(where: isForbidden) else { return nil }
        return number(String(host))?.description ?? String(host)
    }

    /// WHATWG URL §3.1, without the colon of an IPv6 address.
    private static func isForbidden(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == 0x7F || forbidden.contains(byte)
    }

    private static let forbidden = Array("#/<>?@[\\]^|%".utf8)

    private static func decoded(_ text: some StringProtocol) -> String? {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        guard let bytes = PercentEncoding.decode(text.utf8), !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self).flatMap { $0.isStreamSafe ? $0 : nil }
    }

    /// An IPv4 address of one to four numbers, decimal, octal or hexadecimal.
    private static func number(_ host: String) -> IPAddress? {
        guard host.utf8.allSatisfy({ $0.isHexadecimal || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "x") }) else {
            return nil
        }
        var address = in_addr()
        guard inet_aton(host, &address) == 1 else { return nil }
        return withUnsafeBytes(of: address) { IPAddress(bytes: Array($0)) }
    }
}

extension UInt8 {
    /// Whether it is a digit or one of the letters a to f.
    package var isHexadecimal: Bool { (0x30...0x39).contains(self) || (0x61...0x66).contains(self) }
}
