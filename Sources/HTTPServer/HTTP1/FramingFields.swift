import HTTP

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
