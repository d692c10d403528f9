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
