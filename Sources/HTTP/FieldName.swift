/// The name of a field (RFC 9110 §5.1): a token, compared without regard to case.
public struct FieldName: Hashable, Sendable, CustomStringConvertible {
    /// An index into the table of known names, so that known names are compared as numbers.
    private let index: UInt8
    private let other: Other?

    private final class Other: Sendable {
        let text: String
        let folded: String

        init(_ text: String) {
            self.text = text
            folded = text.lowercased()
        }
    }

    /// Nil when `text` is no token (RFC 9110 §5.6.2).
    public init?(_ text: String) {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isTokenCharacter) else { return nil }
        self.init(checked: text)
    }

    /// The name in `bytes`, which must be a token.
    public init(received bytes: borrowing Span<UInt8>) {
        index = KnownFieldNames.shared.index(of: bytes)
        other =
            index == KnownFieldNames.none
            ? Other(bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }) : nil
    }

    /// The name in `text`, which must be a token.
    init(checked text: String) { self.init(received: text.utf8.span) }

    /// Whether it is in the table of known names.
    public var isKnown: Bool { index != KnownFieldNames.none }

    /// The name's bit in a `KnownFieldNameSet`; 0 for a name that is not known.
    fileprivate var bit: UInt64 { isKnown ? 1 << UInt64(index) : 0 }

    /// The spelling for an HTTP/1.1 line.
    public var text: String { other?.text ?? KnownFieldNames.texts[Int(index)] }

    /// The name in lower case, if it is in the table of known names. Its bytes never move.
    public var knownFolded: StaticString? { isKnown ? KnownFieldNames.folded[Int(index)] : nil }
    /// The name in lower case, if it is not in the table of known names.
    public var otherFolded: String? { other?.folded }

    public static func == (a: FieldName, b: FieldName) -> Bool {
        a.index == b.index && (a.index != KnownFieldNames.none || a.other?.folded == b.other?.folded)
    }
    public func hash(into hasher: inout Hasher) {
        hasher.combine(index)
        if let other { hasher.combine(other.folded) }
    }
    public var description: String { text }
}

/// A set of names of the table of known names, as a bit for each.
public struct KnownFieldNameSet: Sendable, ExpressibleByArrayLiteral {
    private let bits: UInt64

    public init(arrayLiteral names: FieldName...) { bits = names.reduce(0) { $0 | $1.bit } }

    public func contains(_ name: FieldName) -> Bool { bits & name.bit != 0 }
}

extension UInt8 {
    /// A character of a token (RFC 9110 §5.6.2).
    public var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"),
            UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"),
            UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

extension FieldName {
    public static let accept = FieldName(checked: "Accept")
    public static let acceptLanguage = FieldName(checked: "Accept-Language")
    public static let accessControlAllowCredentials = FieldName(checked: "Access-Control-Allow-Credentials")
    public static let accessControlAllowHeaders = FieldName(checked: "Access-Control-Allow-Headers")
    public static let accessControlAllowMethods = FieldName(checked: "Access-Control-Allow-Methods")
    public static let accessControlAllowOrigin = FieldName(checked: "Access-Control-Allow-Origin")
    public static let accessControlExposeHeaders = FieldName(checked: "Access-Control-Expose-Headers")
    public static let accessControlMaxAge = FieldName(checked: "Access-Control-Max-Age")
    public static let accessControlRequestHeaders = FieldName(checked: "Access-Control-Request-Headers")
    public static let allow = FieldName(checked: "Allow")
    public static let authorization = FieldName(checked: "Authorization")
    public static let cacheControl = FieldName(checked: "Cache-Control")
    public static let connection = FieldName(checked: "Connection")
    public static let contentDisposition = FieldName(checked: "Content-Disposition")
    public static let contentLanguage = FieldName(checked: "Content-Language")
    public static let contentLength = FieldName(checked: "Content-Length")
    public static let contentSecurityPolicy = FieldName(checked: "Content-Security-Policy")
    public static let contentType = FieldName(checked: "Content-Type")
    public static let cookie = FieldName(checked: "Cookie")
    public static let crossOriginResourcePolicy = FieldName(checked: "Cross-Origin-Resource-Policy")
    public static let date = FieldName(checked: "Date")
    public static let eTag = FieldName(checked: "ETag")
    public static let expect = FieldName(checked: "Expect")
    public static let forwarded = FieldName(checked: "Forwarded")
    public static let host = FieldName(checked: "Host")
    public static let ifNoneMatch = FieldName(checked: "If-None-Match")
    public static let location = FieldName(checked: "Location")
    public static let origin = FieldName(checked: "Origin")
    public static let pragma = FieldName(checked: "Pragma")
    public static let purpose = FieldName(checked: "Purpose")
    public static let range = FieldName(checked: "Range")
    public static let referer = FieldName(checked: "Referer")
    public static let referrerPolicy = FieldName(checked: "Referrer-Policy")
    public static let retryAfter = FieldName(checked: "Retry-After")
    public static let secFetchDest = FieldName(checked: "Sec-Fetch-Dest")
    public static let secFetchMode = FieldName(checked: "Sec-Fetch-Mode")
    public static let secFetchSite = FieldName(checked: "Sec-Fetch-Site")
    public static let secPurpose = FieldName(checked: "Sec-Purpose")
    public static let server = FieldName(checked: "Server")
    public static let setCookie = FieldName(checked: "Set-Cookie")
    public static let strictTransportSecurity = FieldName(checked: "Strict-Transport-Security")
    public static let te = FieldName(checked: "TE")
    public static let traceparent = FieldName(checked: "traceparent")
    public static let trailer = FieldName(checked: "Trailer")
    public static let transferEncoding = FieldName(checked: "Transfer-Encoding")
    public static let upgrade = FieldName(checked: "Upgrade")
    public static let userAgent = FieldName(checked: "User-Agent")
    public static let vary = FieldName(checked: "Vary")
    public static let wwwAuthenticate = FieldName(checked: "WWW-Authenticate")
    public static let xContentTypeOptions = FieldName(checked: "X-Content-Type-Options")
    public static let xForwardedFor = FieldName(checked: "X-Forwarded-For")
    public static let xFrameOptions = FieldName(checked: "X-Frame-Options")
    public static let xRequestID = FieldName(checked: "X-Request-Id")
}

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
        "traceparent", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent", "Vary", "WWW-Authenticate",
        "X-Content-Type-Options", "X-Forwarded-For", "X-Frame-Options", "X-Request-Id",
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
        "traceparent", "trailer", "transfer-encoding", "upgrade", "user-agent", "vary", "www-authenticate",
        "x-content-type-options", "x-forwarded-for", "x-frame-options", "x-request-id",
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
