import CLinux
import HTTP

/// The request line: method, target and version with one blank between them (RFC 9112 §3).
struct RequestLine {
    var method: Method
    var target: Range<Int>
    /// 0 or 1, of HTTP/1.
    var minorVersion: Int

    /// Reads a line without its CRLF. The range of the target counts from the start of the line.
    init(_ line: borrowing Span<UInt8>, maxTarget: Int) throws(Refusal) {
        guard let first = line.firstIndex(of: .blank) else { throw .badRequest("request line without target") }
        method = try Self.method(line.extracting(0..<first))
        let rest = line.extracting((first + 1)...)
        guard let length = rest.firstIndex(of: .blank) else { throw .badRequest("request line without version") }
        guard length > 0 else { throw .badRequest("two blanks in the request line") }
        target = first + 1..<first + 1 + length
        minorVersion = try Self.minorVersion(rest.extracting((length + 1)...))
        guard length <= maxTarget else { throw .targetTooLong }
    }

    /// RFC 9110 §9.1: a token; case matters. CONNECT (a proxy) and TRACE (an echo of credentials) are not implemented.
    static func method(_ bytes: borrowing Span<UInt8>) throws(Refusal) -> Method {
        if bytes.equals("GET") { return .get }
        if bytes.equals("POST") { return .post }
        if bytes.equals("HEAD") { return .head }
        guard bytes.count > 0, bytes.allSatisfy(\.isTokenCharacter) else { throw .badRequest("malformed method") }
        if bytes.equals("CONNECT") || bytes.equals("TRACE") { throw .methodNotImplemented }
        return Method(rawValue: bytes.text)
    }

    /// RFC 9112 §2.3: `HTTP/1.` and one digit. A higher minor version is served as 1.1 (RFC 9110 §2.5).
    static func minorVersion(_ bytes: borrowing Span<UInt8>) throws(Refusal) -> Int {
        guard bytes.count == 8, bytes.extracting(0..<5).equals("HTTP/"), bytes[5].isDigit, bytes[6] == 0x2E,
            bytes[7].isDigit
        else { throw .badRequest("malformed version") }
        switch bytes[5] {
        case 0x31: return bytes[7] == 0x30 ? 0 : 1
        case 0x30: throw .badRequest("version 0")
        default: throw .unknownVersion
        }
    }
}

/// The forms of a request target (RFC 9112 §3.2).
enum TargetRule {
    /// RFC 3986 §3.3.
    private static let path = ByteSet { $0.isUnreserved || "!$&'()*+,;=:@/%".utf8.contains($0) }
    /// RFC 3986 §3.4, and the characters that browsers leave as they are (URL Standard, query percent-encode set).
    private static let query = ByteSet { path.contains($0) || "?[]{}|\\^`".utf8.contains($0) }

    /// The requested resource. `authority` is the host of an absolute target.
    struct Parsed {
        var target: Target
        var authority: Range<Int>?
    }

    static func parse(_ bytes: borrowing Span<UInt8>, method: Method) throws(Refusal) -> Parsed {
        if bytes[0] == UInt8(ascii: "/") { return Parsed(target: try origin(bytes.text), authority: nil) }
        if bytes.equals("*"), method == .options { return Parsed(target: Target("*"), authority: nil) }
        return try absolute(bytes)
    }

    /// RFC 9112 §3.2.1. `text` begins with a slash.
    static func origin(_ text: String) throws(Refusal) -> Target {
        let (bytes, path, query) = (text.utf8.span, path, query)
        let mark = bytes.firstIndex(of: UInt8(ascii: "?"))
        let pathEnd = mark ?? bytes.count
        for index in 0..<pathEnd where !path.contains(bytes[index]) { throw .badRequest("malformed path") }
        for index in pathEnd..<bytes.count where !query.contains(bytes[index]) { throw .badRequest("malformed query") }
        return Target(text, queryMark: mark)
    }

    /// RFC 9112 §3.2.2.
    private static func absolute(_ bytes: borrowing Span<UInt8>) throws(Refusal) -> Parsed {
        guard let scheme = schemeLength(bytes) else { throw .badRequest("malformed target") }
        var end = scheme
        while end < bytes.count, bytes[end] != UInt8(ascii: "/"), bytes[end] != UInt8(ascii: "?") { end += 1 }
        guard HostRule.isValid(bytes.extracting(scheme..<end)) else { throw .badRequest("malformed authority") }
        let rest = bytes.extracting(end...)
        guard rest.count > 0 else { return Parsed(target: Target("/"), authority: scheme..<end) }
        let origin = try origin(rest[0] == UInt8(ascii: "?") ? "/" + rest.text : rest.text)
        return Parsed(target: origin, authority: scheme..<end)
    }

    /// The length of `http://` or `https://`.
    private static func schemeLength(_ bytes: borrowing Span<UInt8>) -> Int? {
        if bytes.count > 7, bytes.extracting(0..<7).equalsFolded("http://") { return 7 }
        if bytes.count > 8, bytes.extracting(0..<8).equalsFolded("https://") { return 8 }
        return nil
    }
}

extension UInt8 {
    /// RFC 3986 §2.3.
    var isUnreserved: Bool {
        isDigit || folded &- 0x61 < 26 || self == 0x2D || self == 0x2E || self == 0x5F || self == 0x7E
    }
}

/// The field Host (RFC 9112 §3.2, RFC 9110 §7.2): a host, and perhaps a port.
enum HostRule {
    /// RFC 3986 §3.2.2 without the comma: two hosts joined by one are not a host.
    private static let name = ByteSet { $0.isUnreserved || "!$&'()*+;=".utf8.contains($0) }

    static func isValid(_ value: borrowing Span<UInt8>) -> Bool {
        guard let host = hostLength(value) else { return false }
        guard host < value.count else { return true }
        return value[host] == UInt8(ascii: ":") && isPort(value.extracting((host + 1)...))
    }

    /// Whether two valid values name the same server. Case and a scheme's default port do not count.
    static func areEqual(_ one: borrowing Span<UInt8>, _ other: borrowing Span<UInt8>) -> Bool {
        let (first, second) = (withoutDefaultPort(one), withoutDefaultPort(other))
        guard first == second else { return false }
        for index in 0..<first where one[index].folded != other[index].folded { return false }
        return true
    }

    private static func withoutDefaultPort(_ value: borrowing Span<UInt8>) -> Int {
        guard let host = hostLength(value), host < value.count else { return value.count }
        let port = value.extracting((host + 1)...)
        return port.count == 0 || port.equals("80") || port.equals("443") ? host : value.count
    }

    /// The length of the host; nil when the value does not begin with one.
    private static func hostLength(_ value: borrowing Span<UInt8>) -> Int? {
        guard value.count > 0, value.count <= 261 else { return nil }
        guard value[0] != UInt8(ascii: "[") else { return literalLength(value) }
        let name = name
        var index = 0
        while index < value.count, value[index] != UInt8(ascii: ":") {
            if value[index] == UInt8(ascii: "%") {
                guard index + 2 < value.count, value[index + 1].hexadecimalValue != nil,
                    value[index + 2].hexadecimalValue != nil
                else { return nil }
                index += 3
            } else {
                guard name.contains(value[index]) else { return nil }
                index += 1
            }
        }
        return index > 0 ? index : nil
    }

    private static func literalLength(_ value: borrowing Span<UInt8>) -> Int? {
        guard let end = value.firstIndex(of: UInt8(ascii: "]")) else { return nil }
        let address = value.extracting(1..<end).text
        guard address.utf8.allSatisfy({ $0.hexadecimalValue != nil || $0 == 0x3A || $0 == 0x2E }) else { return nil }
        return unsafe linux_is_ipv6_address(address) == 1 ? end + 1 : nil
    }

    private static func isPort(_ digits: borrowing Span<UInt8>) -> Bool {
        guard digits.count <= 5 else { return false }
        var port = 0
        for index in 0..<digits.count {
            guard digits[index].isDigit else { return false }
            port = port * 10 + Int(digits[index] - 0x30)
        }
        return port <= 65_535
    }
}

/// A field line (RFC 9112 §5): a name, a colon right after it, and a value between optional blanks.
struct FieldLine {
    var name: Range<Int>
    var value: Range<Int>

    private static let token = ByteSet { $0.isTokenCharacter }

    /// Reads a line without its CRLF; the only control characters in it are tabs. `offset` is where the line begins,
    /// and the ranges count from 0.
    init(_ line: borrowing Span<UInt8>, offset: Int) throws(Refusal) {
        var colon = 0
        while colon < line.count, Self.token.contains(line[colon]) { colon += 1 }
        // A blank before the colon, or at the start of the line, ends the token too (§5.1, §5.2).
        guard colon > 0, colon < line.count, line[colon] == UInt8(ascii: ":") else {
            throw .badRequest("malformed field line")
        }
        var (start, end) = (colon + 1, line.count)
        while start < end, line[start].isBlank { start += 1 }
        while end > start, line[end - 1].isBlank { end -= 1 }
        name = offset..<offset + colon
        value = offset + start..<offset + end
    }
}

extension UInt8 {
    /// Optional white space (RFC 9110 §5.6.3).
    var isBlank: Bool { self == .blank || self == .tab }
}

/// The field Connection (RFC 9112 §9.3): only its options about persistence are read.
struct ConnectionOptions {
    var close = false
    var keepAlive = false

    mutating func read(_ value: borrowing Span<UInt8>) {
        var start = 0
        for index in 0...value.count where index == value.count || value[index] == UInt8(ascii: ",") {
            var (from, to) = (start, index)
            while from < to, value[from].isBlank { from += 1 }
            while to > from, value[to - 1].isBlank { to -= 1 }
            let option = value.extracting(from..<to)
            if option.equalsFolded("close") { close = true }
            if option.equalsFolded("keep-alive") { keepAlive = true }
            start = index + 1
        }
    }

    /// RFC 9112 §9.3: HTTP/1.1 persists unless told otherwise, HTTP/1.0 only on request.
    func persists(minorVersion: Int) -> Bool { !close && (minorVersion > 0 || keepAlive) }
}

/// How the body of a request is framed (RFC 9112 §6).
enum Framing: Equatable {
    case none
    case length(Int)
    case chunked

    /// RFC 9110 §8.6: digits, nothing else. A number that overflows is an error.
    static func contentLength(_ value: borrowing Span<UInt8>) throws(Refusal) -> Int {
        guard value.count > 0 else { throw .badRequest("empty Content-Length") }
        var length = 0
        for index in 0..<value.count {
            guard value[index].isDigit else { throw .badRequest("malformed Content-Length") }
            let (product, overflows) = length.multipliedReportingOverflow(by: 10)
            let (sum, overflowsToo) = product.addingReportingOverflow(Int(value[index] - 0x30))
            guard !overflows, !overflowsToo else { throw .badRequest("Content-Length overflows") }
            length = sum
        }
        return length
    }

    /// RFC 9112 §6.1: exactly `chunked`.
    static func transferCoding(_ value: borrowing Span<UInt8>, minorVersion: Int) throws(Refusal) {
        guard minorVersion > 0 else { throw .badRequest("Transfer-Encoding in HTTP/1.0") }
        guard value.equalsFolded("chunked") else { throw .unknownTransferCoding }
    }
}

/// The header fields that control the connection: noted as they come, judged when all are known.
struct FramingFields {
    let minorVersion: Int
    var connection = ConnectionOptions()
    private var host: Range<Int>?
    private var length: Int?
    private var isChunked = false
    private var fault: Refusal?
    private var hasExpectation = false
    private var hasUnknownExpectation = false

    init(minorVersion: Int) { self.minorVersion = minorVersion }

    mutating func note(_ name: FieldName, _ value: borrowing Span<UInt8>, at range: Range<Int>) throws(Refusal) {
        switch name {
        case .host:
            guard host == nil else { throw .badRequest("two Hosts") }
            guard HostRule.isValid(value) else { throw .badRequest("malformed Host") }
            host = range
        case .contentLength:
            // RFC 9112 §6.3 allows equal ones; no honest client sends them.
            guard length == nil else { throw .badRequest("two Content-Lengths") }
            length = try Framing.contentLength(value)
        case .transferEncoding: noteTransferEncoding(value)
        case .expect:
            hasUnknownExpectation = hasUnknownExpectation || hasExpectation || !value.equalsFolded("100-continue")
            hasExpectation = true
        case .connection: connection.read(value)
        default: break
        }
    }

    private mutating func noteTransferEncoding(_ value: borrowing Span<UInt8>) {
        do throws(Refusal) {
            if isChunked { throw Refusal.unknownTransferCoding }
            isChunked = true
            try Framing.transferCoding(value, minorVersion: minorVersion)
        } catch {
            fault = fault ?? error
        }
    }

    /// RFC 9112 §3.2: an HTTP/1.1 request names its host once, and an absolute target names the same one.
    func checkHost(_ bytes: borrowing Span<UInt8>, authority: Range<Int>?) throws(Refusal) {
        guard let host else {
            guard minorVersion == 0 else { throw .badRequest("no Host") }
            return
        }
        guard let authority else { return }
        guard HostRule.areEqual(bytes.extracting(host), bytes.extracting(authority)) else {
            throw .badRequest("target and Host differ")
        }
    }

    /// RFC 9112 §6.1, §6.3: a request with both fields is an attack or an error.
    func framing() throws(Refusal) -> Framing {
        guard isChunked else { return length.map { $0 == 0 ? .none : .length($0) } ?? .none }
        guard length == nil else { throw .badRequest("Content-Length with Transfer-Encoding") }
        if let fault { throw fault }
        return .chunked
    }

    /// RFC 9110 §10.1.1. HTTP/1.0 has no expectations.
    func expectsContinue() throws(Refusal) -> Bool {
        guard minorVersion > 0 else { return false }
        guard !hasUnknownExpectation else { throw .unknownExpectation }
        return hasExpectation
    }
}

/// Why a request is refused before the handler sees it. It is answered at once, and the connection is closed.
struct Refusal: Error, Equatable {
    let status: Status
    /// One word for the log.
    let reason: String
    /// The rule that is broken, for the log.
    let rule: String
    /// What the peer is told beside the status.
    var text = ""

    private init(_ status: Status, _ reason: String, _ rule: String) {
        self.status = status
        self.reason = reason
        self.rule = rule
    }

    static func badRequest(_ rule: String) -> Refusal { Refusal(.badRequest, "malformed_http", rule) }
    static let targetTooLong = Refusal(.uriTooLong, "target_too_long", "target too long")
    static let headerTooLarge = Refusal(.requestHeaderFieldsTooLarge, "header_too_large", "header too large")
    static let tooManyFields = Refusal(.requestHeaderFieldsTooLarge, "header_too_large", "too many fields")
    /// In HTTP/2: the headers of a connection's requests that are not complete.
    static let headersTooLarge = Refusal(
        .requestHeaderFieldsTooLarge, "header_too_large", "headers too large together")
    static let unknownExpectation = Refusal(.expectationFailed, "unknown_expectation", "unknown expectation")
    static let unknownTransferCoding = Refusal(
        .notImplemented, "unknown_transfer_coding", "unknown transfer coding")
    static let methodNotImplemented = Refusal(.notImplemented, "method_not_implemented", "CONNECT or TRACE")
    static let unknownVersion = Refusal(.httpVersionNotSupported, "unknown_http_version", "version not supported")
    static let timedOut = Refusal(.requestTimeout, "request_timeout", "header not received in time")
    /// A TLS handshake (RFC 8446 §5.1). Its peer could not read a response.
    static let encrypted = Refusal(.badRequest, "tls_on_plain_port", "this port speaks http")
    /// A request without TLS on a port that needs it.
    static let notEncrypted: Refusal = {
        var refusal = Refusal(.badRequest, "http_on_tls_port", "this port speaks https")
        refusal.text = "This port speaks https: begin the address with https://\n"
        return refusal
    }()

    var isAnswered: Bool { self != .encrypted }
}
