import Cryptography
import HTTP
import HTTPSupport
import Pages
import Values

/// A request that a server in development mode answered.
struct DevelopmentRequest: Sendable {
    let time: Timestamp
    let method: String
    let path: String
    let fields: [HiddenField]
    let status: Status
    let reason: String?
    let detail: String?
    let answer: String?
}

extension DevelopmentRequest {
    private static let mostFields = 40
    private static let longest = 1000

    init(_ request: Request, _ response: Response, _ note: RequestNote.Lines, at time: Timestamp) {
        self.time = time
        method = request.method.rawValue
        path = request.target.path.cut(to: 300)
        let form = (try? Form.read(request, orJSON: true))?.pairs ?? []
        let pairs = Self.credentials(request) + Form.query(of: request.target.text).pairs + form
        fields = pairs.prefix(Self.mostFields).map { name, value in
            HiddenField(name: name.cut(to: 100), value: Self.shown(value, of: name))
        }
        status = response.status
        reason = note.reason
        detail = note.detail?.cut(to: Self.longest)
        answer = (response.headers[.location] ?? response.readableError)?.cut(to: Self.longest)
    }

    /// A password may be a real one, and so may another server's token: its end, with the signature, is left out.
    private static func shown(_ value: String, of name: String) -> String {
        let name = name.lowercased()
        guard !["passw", "secret"].contains(where: { name.contains($0) }) else { return "…" }
        let isToken = ["assertion", "token", "jwt", "hint"].contains { name.hasSuffix($0) }
        return isToken ? String(value.prefix(min(40, value.count / 2))) + "…" : value.cut(to: longest)
    }

    /// How the client authenticated: its id, or the beginning of its token.
    private static func credentials(_ request: Request) -> [Form.Pair] {
        guard let header = request.headers[.authorization] else { return [] }
        let parts = header.split(separator: " ", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return [("Authorization", "…")] }
        let shown =
            parts[0].lowercased() == "basic"
            ? Base64.decode(parts[1]).map { String(decoding: $0.prefix { $0 != 0x3A }, as: UTF8.self) + ":…" } ?? "…"
            : String(parts[1].prefix(8)) + "…"
        return [("Authorization", "\(parts[0]) \(shown)")]
    }
}

extension Response {
    /// The JSON of an error.
    fileprivate var readableError: String? {
        guard status.code >= 400, isJSON else { return nil }
        return text
    }

    var isJSON: Bool { headers[.contentType]?.contains("json") == true }

    /// The body as text; nil for one that comes in parts.
    var text: String? {
        switch body {
        case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
        case .text(let text): text
        case .stream: nil
        }
    }
}

extension String {
    /// The beginning, and a sign that there is more.
    fileprivate func cut(to length: Int) -> String { count <= length ? self : prefix(length) + "…" }
}
