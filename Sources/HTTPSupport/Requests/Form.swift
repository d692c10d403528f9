package import HTTP
package import JSON
package import OAuth
import Text
import Values

/// The name-value pairs of a body or a query, in their order, including repeated ones.
package struct Form: Sendable {
    package typealias Pair = (name: String, value: String)
    package let pairs: [Pair]

    package init(pairs: [Pair]) { self.pairs = pairs }

    /// The largest body in bytes: no request of OAuth is larger.
    static let limit = 65536
    /// The largest number of pairs: each costs work before the client is authenticated.
    static let mostPairs = 1000

    /// The last value of `name`, for fields of our own pages.
    package subscript(name: String) -> String? { pairs.last { $0.name == name }?.value }

    package var parameters: OAuth.Parameters {
        get throws(OAuthError) { try OAuth.Parameters(pairs) }
    }

    /// Reads `application/x-www-form-urlencoded`: percent-escapes must be complete, and the result UTF-8.
    package static func parse(_ bytes: [UInt8]) throws(OAuthError) -> Form {
        let ampersands = bytes.count(where: { $0 == UInt8(ascii: "&") })
        guard ampersands < mostPairs else { throw tooManyPairs }
        var pairs: [Pair] = []
        pairs.reserveCapacity(min(ampersands + 1, 16))
        let body = bytes.span
        var start = 0
        while start < body.count {
            var end = start
            while end < body.count, body[end] != UInt8(ascii: "&") { end += 1 }
            if end > start { pairs.append(try pair(bytes[start..<end])) }
            start = end + 1
        }
        return Form(pairs: pairs)
    }

    private static func pair(_ field: ArraySlice<UInt8>) throws(OAuthError) -> Pair {
        let equals = field.firstIndex(of: UInt8(ascii: "=")) ?? field.endIndex
        guard let name = decode(field[..<equals]), let value = decode(field[equals...].dropFirst()) else {
            throw OAuthError(
                .invalidRequest, "malformed_form",
                "The form is malformed: a percent-escape or UTF-8 is broken, or it contains a NUL.")
        }
        guard name.isStreamSafe, value.isStreamSafe else { throw .tooManyMarks }
        return (name, value)
    }

    private static let tooManyPairs = OAuthError(
        .invalidRequest, "too_many_parameters", "The request has more than \(mostPairs) parameters.")

    package static func parse(_ text: String) throws(OAuthError) -> Form { try parse(Array(text.utf8)) }

    /// Decodes one half of a pair; nil when an escape is broken, the bytes are not UTF-8, or one is a NUL, which cannot
    /// be stored and which no honest request contains.
    package static func decode(_ bytes: ArraySlice<UInt8>) -> String? {
        // Tokens and identifiers have nothing to decode.
        guard bytes.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") || $0 >= 0x80 || $0 == 0 })
        else {
            return String(decoding: bytes, as: UTF8.self)
        }
        guard bytes.allSatisfy({ $0 < 0x80 }) || String(validating: bytes, as: UTF8.self) != nil else { return nil }
        guard let decoded = PercentEncoding.decode(bytes, ofForm: true), !decoded.contains(0) else { return nil }
        return String(validating: decoded, as: UTF8.self)
    }

    /// The body as a form; `orJSON` also accepts a flat JSON object of strings, as Auth0's SDKs send it.
    package static func read(_ request: Request, orJSON: Bool = false) throws(OAuthError) -> Form {
        let type = mediaType(request)
        let bytes = try bytes(of: request)
        switch type {
        case urlencoded:
            return try parse(bytes)
        case "application/json" where orJSON:
            return try json(bytes)
        default:
            throw unreadable(orJSON: orJSON)
        }
    }

    /// The refusal of another content type.
    package static func unreadable(orJSON: Bool = false) -> OAuthError {
        OAuthError(
            .invalidRequest, "content_type",
            "The content type must be application/x-www-form-urlencoded\(orJSON ? " or application/json" : "").")
    }

    /// Whether the content type is that of a form.
    package static func isForm(_ request: Request) -> Bool { mediaType(request) == urlencoded }

    private static let urlencoded = "application/x-www-form-urlencoded"

    static func mediaType(_ request: Request) -> String? {
        guard let header = request.headers[.contentType] else { return nil }
        // The exact value that nearly every client sends.
        guard header != urlencoded else { return urlencoded }
        return header.split(separator: ";").first?.trimmingScalars(while: \.isBlank).lowercased()
    }

    /// The whole body, if it is within the limit and complete.
    package static func bytes(of request: Request) throws(OAuthError) -> [UInt8] {
        switch request.body {
        case .bytes(let bytes): return bytes
        case .fault(.tooLarge):
            throw OAuthError(.requestTooLarge, "body_too_large", "The body is larger than 64 KiB.")
        case .fault(.cutOff):
            throw OAuthError(.invalidRequest, "body_cut_off", "The body ended before its announced length.")
        }
    }

    private static func json(_ bytes: [UInt8]) throws(OAuthError) -> Form {
        func malformed(_ fault: String) -> OAuthError {
            OAuthError(
                .invalidRequest, "malformed_json",
                "The body must be a JSON object whose members are strings; this one \(fault).")
        }
        let members: [JSON.Member]
        switch try JSON.body(bytes) {
        case .success(let found): members = found.members ?? []
        case .failure(let fault): throw malformed(fault.text)
        }
        guard members.count <= mostPairs else { throw tooManyPairs }
        var pairs: [Pair] = []
        for member in members {
            switch member.value {
            case .string(let text): pairs.append((member.name, text))
            case .null: continue
            // A known member must be a string; an unknown one may be anything.
            default:
                if Parameter(rawValue: member.name) != nil { throw malformed("has another value for \(member.name)") }
            }
        }
        return Form(pairs: pairs)
    }
}

extension JSON {
    /// Why a body is no JSON object: the end of a sentence about it.
    package struct BodyFault: Error {
        package let text: String
    }

    /// The body as a JSON object.
    package static func body(_ bytes: [UInt8]) throws(OAuthError) -> Result<JSON, BodyFault> {
        do {
            let json = try JSON(parsing: bytes)
            return json.members == nil ? .failure(BodyFault(text: "is JSON, but not an object")) : .success(json)
        } catch .tooManyMarks {
            throw .tooManyMarks
        } catch {
            return .failure(BodyFault(text: error.place(in: bytes)))
        }
    }
}

extension OAuthError {
    /// The text is not safe to compare: see `isStreamSafe`.
    package static let tooManyMarks = OAuthError(
        .invalidRequest, "combining_marks", "A text of the request has \(String.tooManyMarks).")
}

extension Request {
    /// The query as a form.
    package var query: Form {
        get throws(OAuthError) { try Form.parse(target.query ?? "") }
    }
}

/// An authorization request, as its original pairs.
extension Form {
    /// The request with `value` as its `parameter`.
    package func with(_ parameter: Parameter, _ value: String) -> Form {
        Form(pairs: pairs.filter { $0.name != parameter.rawValue } + [(parameter.rawValue, value)])
    }

    /// The URL at `path` with the same pairs; nil when it is longer than servers accept.
    package func address(at path: String) -> String? {
        let address = "\(path)?\(pairs.encoded)"
        return address.utf8.count <= Self.longestAddress ? address : nil
    }

    private static let longestAddress = 8000

    /// Whether it may wait in the database: at most 16 KiB as a query.
    package var isShortEnoughToStore: Bool { pairs.encoded.utf8.count <= 16_384 }

    package subscript(parameter: Parameter) -> String? { self[parameter.rawValue] }
}

extension [Form.Pair] {
    /// The pairs as a query.
    package var encoded: String {
        PercentEncoding.encode(pairs: self)
    }
}

/// `multipart/form-data` (RFC 7578), as libcurl writes a form for SPiD's PHP SDK: named text parts only.
extension Form {
    /// The largest number of parts.
    static let mostParts = 100
    /// The longest boundary (RFC 2046 §5.1.1).
    static let longestBoundary = 70

    /// Whether the content type is that of a form in parts.
    package static func isMultipart(_ request: Request) -> Bool { mediaType(request) == "multipart/form-data" }

    package static func readMultipart(_ request: Request) throws(OAuthError) -> Form {
        guard let boundary = boundary(request.headers[.contentType] ?? "") else { throw malformedParts }
        return try parse(multipart: try bytes(of: request), boundary: boundary)
    }

    /// Reads the parts between lines of `boundary`. The body must contain nothing else, and each part only one header
    /// field, its name. Files, other encodings and nested parts are refused, because no client sends them.
    package static func parse(multipart body: [UInt8], boundary: String) throws(OAuthError) -> Form {
        let line = Array("--\(boundary)".utf8)
        let between = Array("\r\n".utf8) + line
        guard body.starts(with: line) else { throw malformedParts }
        var rest = body[line.count...]
        var pairs: [Pair] = []
        while rest.starts(with: [0x0D, 0x0A]) {
            guard pairs.count < mostParts else { throw malformedParts }
            rest = rest.dropFirst(2)
            guard let head = place(of: [0x0D, 0x0A, 0x0D, 0x0A], in: rest), let name = name(rest[..<head]),
                let end = place(of: between, in: rest[(head + 4)...]), let value = text(rest[(head + 4)..<end])
            else { throw malformedParts }
            guard name.isStreamSafe, value.isStreamSafe else { throw .tooManyMarks }
            pairs.append((name, value))
            rest = rest[(end + between.count)...]
        }
        let end = Array("--".utf8)
        guard !pairs.isEmpty, rest.starts(with: end), rest.count == 2 || rest.dropFirst(2).elementsEqual([0x0D, 0x0A])
        else { throw malformedParts }
        return Form(pairs: pairs)
    }

    /// The one parameter of the content type, perhaps in quotes.
    private static func boundary(_ type: String) -> String? {
        let parts = type.split(separator: ";", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let parameter = parts[1].trimmingScalars(while: \.isBlank)
        guard let equals = parameter.firstIndex(of: "="), parameter[..<equals].lowercased() == "boundary" else {
            return nil
        }
        var value = parameter[parameter.index(after: equals)...]
        if value.count > 2, value.hasPrefix("\""), value.hasSuffix("\"") { value = value.dropFirst().dropLast() }
        let others = "'()+_,-./:=?".utf8
        let isGood = value.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || others.contains(byte)
        }
        return isGood && (1...longestBoundary).contains(value.utf8.count) ? String(value) : nil
    }

    /// `Content-Disposition: form-data; name="…"`, without escapes.
    private static func name(_ head: ArraySlice<UInt8>) -> String? {
        guard let field = text(head)?[...], !field.contains(where: \.isNewline), let colon = field.firstIndex(of: ":"),
            field[..<colon].lowercased() == "content-disposition"
        else { return nil }
        let parts = field[field.index(after: colon)...].split(separator: ";", omittingEmptySubsequences: false)
            .map { $0.trimmingScalars(while: \.isBlank) }
        guard parts.count == 2, parts[0].lowercased() == "form-data" else { return nil }
        let beginning = "name=\""
        guard parts[1].lowercased().hasPrefix(beginning), parts[1].utf8.count > beginning.utf8.count + 1 else {
            return nil
        }
        let name = parts[1].dropFirst(beginning.count)
        guard name.hasSuffix("\"") else { return nil }
        let plain = name.dropLast()
        return plain.utf8.contains { "\"\\%".utf8.contains($0) } ? nil : String(plain)
    }

    /// UTF-8 without a NUL, which cannot be stored.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
    }

    /// The first place where `bytes` occur.
    private static func place(of bytes: [UInt8], in rest: ArraySlice<UInt8>) -> Int? {
        guard rest.count >= bytes.count else { return nil }
        return (rest.startIndex...(rest.endIndex - bytes.count)).first { start in
            rest[start] == bytes[0] && rest[start...].starts(with: bytes)
        }
    }

    private static let malformedParts = OAuthError(
        .invalidRequest, "malformed_multipart",
        "The form is malformed: it must have 1 to \(mostParts) parts of text, each with a name and nothing else.")
}

extension Request {
    /// Whether a web page sends it: browsers say so in fields that no page can suppress (Fetch §3.2, Fetch Metadata).
    package var isByWebPage: Bool { headers[.origin] != nil || headers[.secFetchSite] != nil }
}
