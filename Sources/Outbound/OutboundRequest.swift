import Cryptography
import Text
import Transfer

/// A request to another server.
enum OutboundRequest: Sendable {
    /// `authorization`, the value of that header, may be a secret.
    case get(accept: String, authorization: String? = nil)
    /// `signature` is the value of the header by which the receiver authenticates us.
    case post([UInt8], contentType: String, signature: String? = nil)
    /// A form and the value of the `Authorization` header. Both may contain secrets.
    case form([UInt8], authorization: String?)

    var method: String {
        switch self {
        case .get: "GET"
        case .post, .form: "POST"
        }
    }

    var fields: [(name: String, value: String)] {
        var fields = [(name: "user-agent", value: "spindle")]
        switch self {
        case .get(let accept, let authorization):
            fields.append(("accept", accept))
            if let authorization { fields.append(("authorization", authorization)) }
        case .post(_, let contentType, let signature):
            fields.append(("content-type", contentType))
            // RFC 8935 §2.1 wants it for a token; it harms no callback.
            fields.append(("accept", "application/json"))
            if let signature { fields.append(("spindle-signature", signature)) }
        case .form(_, let authorization):
            fields.append(("content-type", "application/x-www-form-urlencoded"))
            fields.append(("accept", "application/json"))
            if let authorization { fields.append(("authorization", authorization)) }
        }
        return fields
    }

    var body: [UInt8] {
        switch self {
        case .get: []
        case .post(let body, _, _), .form(let body, _): body
        }
    }
}

/// A server's response. Redirects are not followed.
public struct OutboundResponse: Sendable {
    public let status: Int
    public let body: [UInt8]
    /// `Cache-Control`, its values joined by commas (RFC 9110 §5.3).
    public let cacheControl: String?

    /// How long the response may be cached (RFC 9111 §5.2.2): zero for `no-store` or `no-cache`, nil without `max-age`.
    public var maxAge: Duration? {
        let directives = (cacheControl ?? "").split(separator: ",").map { directive in
            directive.trimming { $0 == " " || $0 == "\t" }.lowercased()
        }
        guard !directives.contains("no-store"), !directives.contains("no-cache") else { return .zero }
        for directive in directives where directive.hasPrefix("max-age=") {
            let digits = directive.dropFirst("max-age=".count).trimming { $0 == "\"" }
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
            else { continue }
            // A number too large for us counts as very long (RFC 9111 §1.2.2).
            return .seconds(min(Int64(digits) ?? .max, 2_147_483_648))
        }
        return nil
    }
}

/// The parts of a URL that decide where a request goes.
struct OutboundTarget: Sendable {
    private static let longest = 2000
    /// Access tokens of other issuers may have 2048 bytes and more, each of which may take three when encoded.
    private static let longestQuery = 8000

    let url: TransferURL
    /// A name, or an address without brackets.
    var host: String { url.host }
    var isEncrypted: Bool { url.isEncrypted }

    init(_ url: String) throws(OutboundError) {
        guard url.utf8.count <= Self.longest, let parsed = TransferURL(url) else { throw .unacceptableURL }
        self.url = parsed
    }

    /// `url`, which must have no query, with these parameters; their values may be anything.
    init(_ url: String, query: KeyValuePairs<String, String>) throws(OutboundError) {
        let pairs = PercentEncoding.encode(pairs: query.map { (name: $0.key, value: $0.value) })
        guard url.utf8.count <= Self.longest, !url.contains("?"), pairs.utf8.count <= Self.longestQuery,
            let parsed = TransferURL(query.isEmpty ? url : url + "?" + pairs)
        else { throw .unacceptableURL }
        self.url = parsed
    }
}

/// Our credentials at another server: a name and a password (RFC 7617), or a token (RFC 6750). They do not print.
public struct OutboundCredentials: Sendable, CustomStringConvertible, CustomReflectable {
    let authorization: String

    /// For token endpoints: both halves are form-encoded before they are joined (RFC 6749 §2.3.1).
    public init(id: String, secret: String) {
        let pair = PercentEncoding.encode(id) + ":" + PercentEncoding.encode(secret)
        authorization = "Basic " + Base64.encode(Array(pair.utf8))
    }

    /// A token from another server. Nil if no header can contain it.
    public init?(bearer token: String) {
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        authorization = "Bearer " + token
    }

    public var description: String { "<credentials>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
