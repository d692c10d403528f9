import Text
import Values

/// The address of a web page that a browser may be sent to without its full URL being registered. Refuses what browsers
/// and servers may read in two ways: user information, a backslash, an encoded slash, and dot segments (RFC 3986
/// §5.2.4), however often they are encoded.
package struct PageAddress: Sendable, Hashable {
    /// Without a fragment, which does not reach the server.
    let text: String
    /// Scheme, host and port as browsers write them (RFC 6454 §6.2); https, or http to this machine.
    let origin: String
    /// The segments of the path, decoded. Empty for an address that ends with the origin.
    let segments: [[UInt8]]
    let hasQuery: Bool

    package init?(_ written: String) {
        let text = written.prefix { $0 != "#" }
        guard text.utf8.count <= 2000,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !Self.doubtful.contains($0) }),
            let start = text.firstRange(of: "://")?.upperBound
        else { return nil }
        let end = text[start...].firstIndex { $0 == "/" || $0 == "?" } ?? text.endIndex
        let path = text[end...].prefix { $0 != "?" }
        guard WebOrigin.isOne(String(text[..<end])), let segments = Self.segments(path.utf8) else { return nil }
        self.text = String(text)
        self.segments = segments
        origin = String(text[..<end])
        hasQuery = path.endIndex != text.endIndex
    }

    /// Browsers read a backslash as a slash (WHATWG URL §4.4), and no URI has the other characters.
    static let doubtful = Array(#"\"<>"#.utf8)

    private static func segments(_ path: Substring.UTF8View) -> [[UInt8]]? {
        guard !path.isEmpty else { return [] }
        var segments: [[UInt8]] = []
        for written in path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            // Only the last segment may be empty, after a trailing slash.
            guard segments.last != [], let segment = PercentEncoding.decode(written), isPlain(segment) else {
                return nil
            }
            segments.append(segment)
        }
        return segments
    }

    /// As some servers decode: an invalid escape stands for itself.
    private static func decodedLeniently(_ bytes: [UInt8]) -> [UInt8] {
        var decoded: [UInt8] = []
        var rest = bytes[...]
        while let first = rest.first {
            let length = rest.count > 2 && first == UInt8(ascii: "%") ? 3 : 1
            let piece = rest.prefix(length)
            if length == 3, let byte = PercentEncoding.decode(piece) {
                decoded += byte
                rest = rest.dropFirst(3)
            } else {
                decoded.append(first)
                rest = rest.dropFirst()
            }
        }
        return decoded
    }

    /// How often a segment may be encoded. Decoding hundreds of layers would take quadratic time.
    private static let mostLayers = 5

    /// Whether no server could take `segment` for several segments or for a dot segment, even after decoding it again.
    private static func isPlain(_ segment: [UInt8]) -> Bool {
        var meant = segment
        for _ in 1...mostLayers {
            let name = meant.prefix { $0 != UInt8(ascii: ";") }
            guard !name.elementsEqual(".".utf8), !name.elementsEqual("..".utf8),
                !meant.contains(where: { $0 < 0x20 || $0 == 0x7F || "/\\".utf8.contains($0) }),
                String(validating: meant, as: UTF8.self) != nil
            else { return false }
            let again = decodedLeniently(meant)
            guard again != meant else { return true }
            meant = again
        }
        return false
    }
}
