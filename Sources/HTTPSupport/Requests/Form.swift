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
        let malformed = OAuthError(
            .invalidRequest, "malformed_json", "The body must be a JSON object whose members are strings.")
        guard let members = try JSON.body(bytes)?.members else { throw malformed }
        guard members.count <= mostPairs else { throw tooManyPairs }
        var pairs: [Pair] = []
        for member in members {
            switch member.value {
            case .string(let text): pairs.append((member.name, text))
            case .null: continue
            // A known member must be a string; an unknown one may be anything.
            default: if Parameter(rawValue: member.name) != nil { throw malformed }
            }
        }
        return Form(pairs: pairs)
    }
}

extension JSON {
    /// The body as a JSON object; nil when it is not one.
    package static func body(_ bytes: [UInt8]) throws(OAuthError) -> JSON? {
        do {
            let json = try JSON(parsing: bytes)
            return json.members == nil ? nil : json
        } catch .tooManyMarks {
            throw .tooManyMarks
        } catch {
            return nil
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
