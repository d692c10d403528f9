/// The names that `FieldName` has constants for, looked up by their bytes without making a string.
struct KnownFieldNames: Sendable {
    static let shared = KnownFieldNames()

    static let texts = [
        "Accept", "Accept-Language", "Access-Control-Allow-Credentials", "Access-Control-Allow-Headers",
        "Access-Control-Allow-Methods", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers",
        "Access-Control-Max-Age", "Access-Control-Request-Headers", "Allow", "Authorization", "Cache-Control",
        "Connection", "Content-Disposition", "Content-Language", "Content-Length", "Content-Security-Policy",
        "Content-Type", "Cookie",
        "Cross-Origin-Resource-Policy", "Date", "ETag", "Expect", "Forwarded", "Host", "If-None-Match", "Location",
        "Origin", "Pragma", "Purpose", "Range", "Referer", "Referrer-Policy", "Retry-After", "Sec-Fetch-Dest",
        "Sec-Fetch-Mode", "Sec-Fetch-Site", "Sec-Purpose", "Server", "Set-Cookie", "Strict-Transport-Security", "TE",
        "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent", "Vary", "WWW-Authenticate",
        "X-Content-Type-Options", "X-Forwarded-For", "X-Frame-Options",
    ]

    /// The same in lower case, as HTTP/2 sends them. Their bytes never move, so C may keep pointers.
    static let folded: [StaticString] = [
        "accept", "accept-language", "access-control-allow-credentials", "access-control-allow-headers",
        "access-control-allow-methods", "access-control-allow-origin", "access-control-expose-headers",
        "access-control-max-age", "access-control-request-headers", "allow", "authorization", "cache-control",
        "connection", "content-disposition", "content-language", "content-length", "content-security-policy",
        "content-type", "cookie",
        "cross-origin-resource-policy", "date", "etag", "expect", "forwarded", "host", "if-none-match", "location",
        "origin", "pragma", "purpose", "range", "referer", "referrer-policy", "retry-after", "sec-fetch-dest",
        "sec-fetch-mode", "sec-fetch-site", "sec-purpose", "server", "set-cookie", "strict-transport-security", "te",
        "trailer", "transfer-encoding", "upgrade", "user-agent", "vary", "www-authenticate", "x-content-type-options",
        "x-forwarded-for", "x-frame-options",
    ]

    private let bytes: [[UInt8]]
    /// Indices into `texts` by `slot`, or in the next free slot after a collision; `none` ends a search.
    private let slots: [UInt8]

    static let none = UInt8.max

    private init() {
        bytes = Self.folded.map { $0.withUTF8Buffer(Array.init) }
        var slots = [UInt8](repeating: Self.none, count: 256)
        for (index, name) in bytes.enumerated() {
            var slot = Self.slot(name.span)
            while slots[slot] != Self.none { slot = (slot + 1) % 256 }
            slots[slot] = UInt8(index)
        }
        self.slots = slots
    }

    /// The index of `name` in `texts`, in any case; `none` when it is not there.
    func index(of name: borrowing Span<UInt8>) -> UInt8 {
        guard name.count > 0 else { return Self.none }
        var slot = Self.slot(name)
        while slots[slot] != Self.none {
            if matches(bytes[Int(slots[slot])], name) { return slots[slot] }
            slot = (slot + 1) % 256
        }
        return Self.none
    }

    private func matches(_ known: [UInt8], _ name: borrowing Span<UInt8>) -> Bool {
        guard known.count == name.count else { return false }
        for index in known.indices where known[index] != name[index].lowercased { return false }
        return true
    }

    private static func slot(_ name: borrowing Span<UInt8>) -> Int {
        let (first, middle, last) = (name[0], name[name.count / 2], name[name.count - 1])
        return (name.count &* 37 &+ Int(first.lowercased) &* 7 &+ Int(middle.lowercased) &* 19 &+ Int(last.lowercased))
            & 255
    }
}

extension UInt8 {
    /// Folds ASCII only.
    fileprivate var lowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
}
