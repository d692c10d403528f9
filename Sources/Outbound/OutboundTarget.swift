import Foundation

/// The parts of a URL that decide where a request goes.
struct OutboundTarget: Sendable {
    private static let longest = 2000
    /// The access tokens of others may have 2048 bytes and more, each of them three when it is encoded.
    private static let longestQuery = 8000

    let url: String
    /// A name, or an address without brackets.
    let host: String
    let isEncrypted: Bool

    init(_ url: String) throws(OutboundError) {
        // Two readers of one URL must not see two hosts, so nothing is taken that any of them could read otherwise.
        guard url.utf8.count <= Self.longest, url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            !url.contains(where: { "\\\"<>^`{|}#".contains($0) }), let parsed = URL(string: url),
            let scheme = parsed.scheme?.lowercased(), let host = parsed.host, parsed.user == nil,
            parsed.password == nil
        else { throw .unacceptableURL }
        let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        guard !bare.isEmpty, bare.utf8.count <= 253, bare.utf8.allSatisfy(Self.isOfHost) else { throw .unacceptableURL }
        switch scheme {
        case "https": self.isEncrypted = true
        case "http": self.isEncrypted = false
        default: throw .unacceptableURL
        }
        // What stands between scheme and path is the host, perhaps a port, and nothing else.
        let shown = bare.contains(":") ? "[\(bare)]" : bare
        let authority = url.dropFirst(scheme.utf8.count + "://".utf8.count).prefix { $0 != "/" && $0 != "?" }
        guard authority == shown || parsed.port.map({ authority == "\(shown):\($0)" }) == true else {
            throw .unacceptableURL
        }
        self.url = url
        self.host = bare
    }

    /// `url`, which has no query, with one of these parameters: their values may be anything.
    init(_ url: String, query: KeyValuePairs<String, String>) throws(OutboundError) {
        let pairs = OutboundForm.encode(query.map { ($0.key, $0.value) })
        guard !url.contains("?"), pairs.utf8.count <= Self.longestQuery else { throw .unacceptableURL }
        let bare = try Self(url)
        self.url = query.isEmpty ? url : url + "?" + pairs
        self.host = bare.host
        self.isEncrypted = bare.isEncrypted
    }

    /// A letter, a digit, a hyphen, a dot, or the colon of an IPv6 address.
    private static func isOfHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
