import HTTP

/// A request's fields as they are decoded, and the rules that nghttp2 does not check. They are compared as bytes:
/// comparing untrusted input as text can take quadratic time.
///
/// A connection has one, which is emptied for each request.
final class HTTP2Head {
    /// Fields are counted up to this multiple of the limits and answered; beyond it the stream is reset.
    private static let patience = 4

    /// Why a head is refused.
    enum Fault: Error {
        /// RFC 9113 §8.1.1: the stream is reset.
        case malformed
        /// The server answers it without the handler.
        case refused(Refusal)
    }

    private let limits: ServerLimits
    private var method: Result<Method, Refusal>?
    private var path = ""
    private var isSecure = false
    private var authority: String?
    private var host: String?
    private var cookie: String?
    private(set) var contentLength: Int?
    private var expectation: String?
    private var fields = Fields()
    private var count = 0
    /// The size by RFC 9113 §6.5.2: names, values, and 32 for each field.
    private(set) var bytes = 0

    init(limits: ServerLimits) { self.limits = limits }

    func empty() {
        guard count > 0 else { return }
        (method, path, isSecure) = (nil, "", false)
        (authority, host, cookie, contentLength, expectation) = (nil, nil, nil, nil, nil)
        fields = Fields()
        (count, bytes) = (0, 0)
    }

    /// RFC 9110 §10.1.1.
    var expectsContinue: Bool { expectation?.utf8.span.equalsFolded("100-continue") ?? false }

    /// Takes one field that nghttp2 has checked. False when there are far too many.
    func add(_ name: borrowing Span<UInt8>, _ value: borrowing Span<UInt8>) -> Bool {
        count += 1
        bytes += name.count + value.count + 32
        guard !isTooLarge else {
            return count <= limits.maxFields * Self.patience && bytes <= limits.maxHeader * Self.patience
        }
        guard name.count > 0, name[0] == UInt8(ascii: ":") else {
            add(FieldName(received: name), value.text)
            return true
        }
        switch name.count {
        case 5 where name.equals(":path"): path = value.text
        case 7 where name.equals(":method"): method = Self.method(value)
        case 7 where name.equals(":scheme"): isSecure = value.equals("https")
        case 10 where name.equals(":authority"): authority = value.text
        default: break
        }
        return true
    }

    /// Takes the request out, without its body.
    func request(peer: String?) throws(Fault) -> Request {
        guard !isTooLarge else { throw .refused(count > limits.maxFields ? .tooManyFields : .headerTooLarge) }
        guard isSecure, let named = authority ?? host, agrees(named) else { throw .malformed }
        guard path.utf8.count <= limits.maxTarget else { throw .refused(.targetTooLong) }
        guard expectation == nil || expectsContinue else { throw .refused(.unknownExpectation) }
        let (method, target) = try methodAndTarget()
        var headers = Fields()
        swap(&headers, &fields)
        headers.append(Field(name: .host, value: named))
        if let cookie { headers.append(Field(name: .cookie, value: cookie)) }
        return Request(method: method, target: target, headers: headers, peer: peer)
    }

    private var isTooLarge: Bool { count > limits.maxFields || bytes > limits.maxHeader }

    private func add(_ name: FieldName, _ value: String) {
        if Self.special.contains(name) {
            switch name {
            case .host: return host = value
            case .cookie: return cookie = cookie.map { $0 + "; " + value } ?? value
            case .contentLength: contentLength = Int(value)
            case .expect: expectation = expectation.map { $0 + ", " + value } ?? value
            default: break
            }
        }
        fields.append(Field(name: name, value: value), expecting: 16)
    }
    private static let special: KnownFieldNameSet = [.host, .cookie, .contentLength, .expect]

    /// RFC 9113 §8.3.1: `:authority` is a valid host, and Host names the same one if it is present.
    private func agrees(_ named: String) -> Bool {
        guard HostRule.isValid(named.utf8.span) else { return false }
        guard let host else { return true }
        return HostRule.isValid(host.utf8.span) && HostRule.areEqual(host.utf8.span, named.utf8.span)
    }

    private static func method(_ bytes: borrowing Span<UInt8>) -> Result<Method, Refusal> {
        do throws(Refusal) { return .success(try RequestLine.method(bytes)) } catch { return .failure(error) }
    }

    private func methodAndTarget() throws(Fault) -> (Method, Target) {
        guard let method else { throw .malformed }
        do throws(Refusal) {
            let method = try method.get()
            // The absolute form exists in HTTP/1.1 only (RFC 9112 §3.2.2).
            if path.utf8.first == UInt8(ascii: "/") { return (method, try TargetRule.origin(path)) }
            guard path.utf8.span.equals("*"), method == .options else { throw .badRequest("malformed path") }
            return (method, Target(path))
        } catch {
            throw error.status == .badRequest ? .malformed : .refused(error)
        }
    }
}
