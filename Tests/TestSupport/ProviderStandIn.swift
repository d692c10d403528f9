import Cryptography
import Foundation
public import JSON
import Synchronization

/// Facebook and Google as their documents describe them, on 127.0.0.1. They know some access tokens, and fail on
/// demand.
public final class ProviderStandIn: Sendable {
    /// An access token that Facebook or Google issued to an app.
    public struct Token: Sendable {
        public var app: String
        /// Google's `azp`; the app itself by default.
        public var presenter: String?
        public var subject: String?
        public var isValid = true
        public var expiresIn: Int64 = 3600
        public var type = "USER"
        /// The claims that the provider has about the user.
        public var claims: JSON

        public init(app: String, subject: String?, claims: JSON = [:]) {
            self.app = app
            self.subject = subject
            self.claims = claims
        }
    }

    public static let facebookApp = "1234567890"
    public static let facebookSecret = "a Facebook app's secret"
    public static let googleApp = "loom.apps.googleusercontent.com"

    private let books = Books()
    private let listener: LocalListener

    public init() throws {
        listener = try LocalListener { [books] line in books.answer(line) }
    }

    public var facebook: String { "http://127.0.0.1:\(listener.port)/facebook" }
    public var google: String { "http://127.0.0.1:\(listener.port)/google" }
    /// The settings of a server that uses this stand-in.
    public var settings: [String: String] {
        ["outbound_allow_private": "127.0.0.0/8", "facebook_api": facebook, "google_api": google]
    }
    /// The first line of each request.
    public var questions: [String] { books.state.withLock { $0.questions } }

    public func give(facebook token: String, _ facts: Token) { books.state.withLock { $0.facebook[token] = facts } }
    public func give(google token: String, _ facts: Token) { books.state.withLock { $0.google[token] = facts } }

    /// Answers requests for `path` with `json` from now on.
    public func answer(_ path: String, _ json: JSON) { books.state.withLock { $0.answers[path] = json } }

    /// Answers requests whose path ends in `path` with this status and body from now on; nil ends that.
    public func fail(_ path: String = "", status: String?, body: String = "{}") {
        books.state.withLock { $0.failure = status.map { (path, Books.response($0, body)) } }
    }

    /// Leaves requests about `token` open until `release`.
    public func hold(_ token: String) { books.state.withLock { $0.held = token } }

    /// Answers the requests that were left open.
    public func release() { books.state.withLock { $0.held = nil } }

    /// Stops accepting connections.
    public func stop() { listener.stop() }
}

/// The state of both providers.
private final class Books: Sendable {
    struct State {
        var facebook: [String: ProviderStandIn.Token] = [:]
        var google: [String: ProviderStandIn.Token] = [:]
        var failure: (path: String, answer: [UInt8])?
        var answers: [String: JSON] = [:]
        var questions: [String] = []
        var held: String?
    }
    let state = Mutex(State())

    func answer(_ line: String) -> [UInt8] {
        let target = line.split(separator: " ").dropFirst().first.map(String.init) ?? ""
        let path = String(target.prefix { $0 != "?" })
        let query = Self.pairs(target.dropFirst(path.count + 1))
        state.withLock { $0.questions.append(line) }
        // Each connection has its own thread.
        while state.withLock({ state in state.held.map { line.contains("=" + $0) } ?? false }) {
            Thread.sleep(forTimeInterval: 0.005)
        }
        let state = state.withLock { $0 }
        if let failure = state.failure, path.hasSuffix(failure.path) { return failure.answer }
        let (status, json): (String, JSON) =
            switch path {
            case "/facebook/debug_token": Self.debugToken(query, state.facebook)
            case "/facebook/me": Self.me(query, state.facebook)
            case "/google/tokeninfo": Self.tokenInfo(query, state.google)
            case "/google/userinfo": Self.userInfo(query, state.google)
            default: state.answers[path].map { ("200 OK", $0) } ?? ("404 Not Found", [:])
            }
        return Self.response(status, json.text)
    }

    static func response(_ status: String, _ body: String) -> [UInt8] {
        Array("HTTP/1.1 \(status)\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n\(body)".utf8)
    }

    private static func pairs(_ query: Substring) -> [String: String] {
        var pairs: [String: String] = [:]
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1).map { String($0).removingPercentEncoding ?? "" }
            if parts.count == 2 { pairs[parts[0]] = parts[1] }
        }
        return pairs
    }

    // MARK: Facebook

    private static func debugToken(
        _ query: [String: String], _ tokens: [String: ProviderStandIn.Token]
    ) -> (String, JSON) {
        guard query["access_token"] == "\(ProviderStandIn.facebookApp)|\(ProviderStandIn.facebookSecret)" else {
            return error(190, "Invalid OAuth access token signature.")
        }
        guard let token = query["input_token"].flatMap({ tokens[$0] }), token.isValid else {
            return (
                "200 OK",
                [
                    "data": [
                        "error": ["code": 190, "message": "Invalid OAuth access token."], "is_valid": false,
                        "scopes": [],
                    ]
                ]
            )
        }
        // "of another" stands for another app of the same developer, whose tokens Facebook shows too.
        guard token.app == ProviderStandIn.facebookApp || token.app.hasPrefix("of another") else {
            return error(100, "(#100) The App_id in the input_token did not match the Viewing App")
        }
        return (
            "200 OK",
            [
                "data": .members([
                    "app_id": .string(token.app), "type": .string(token.type), "application": "Loom",
                    "expires_at": .integer(token.expiresIn == 0 ? 0 : Int64(4_000_000_000) + token.expiresIn),
                    "is_valid": true, "scopes": ["public_profile"], "user_id": token.subject.map { .string($0) },
                ])
            ]
        )
    }

    private static func me(
        _ query: [String: String], _ tokens: [String: ProviderStandIn.Token]
    ) -> (String, JSON) {
        guard let text = query["access_token"], let token = tokens[text], token.isValid else {
            return error(190, "Invalid OAuth access token.")
        }
        let digest = Digest.hmacSHA256(Array(text.utf8), key: Array(ProviderStandIn.facebookSecret.utf8))
        let proof = digest.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
        guard query["appsecret_proof"] == proof else {
            return error(100, "Invalid appsecret_proof provided in the API argument")
        }
        let known = token.claims.members ?? []
        let fields = Set((query["fields"] ?? "id").split(separator: ",").map(String.init))
        let id = JSON.Member("id", token.subject.map { .string($0) } ?? .null)
        return ("200 OK", .object([id] + known.filter { fields.contains($0.name) }))
    }

    private static func error(_ code: Int64, _ message: String) -> (String, JSON) {
        (
            "400 Bad Request",
            ["error": ["message": .string(message), "type": "OAuthException", "code": .integer(code)]]
        )
    }

    // MARK: Google

    private static func tokenInfo(
        _ query: [String: String], _ tokens: [String: ProviderStandIn.Token]
    ) -> (String, JSON) {
        guard let token = query["access_token"].flatMap({ tokens[$0] }), token.isValid else {
            return ("400 Bad Request", ["error": "invalid_token", "error_description": "Invalid Value"])
        }
        return (
            "200 OK",
            .members([
                "azp": .string(token.presenter ?? token.app), "aud": .string(token.app),
                "sub": token.subject.map { .string($0) }, "scope": "openid email profile",
                "exp": .string(String(4_000_000_000 + token.expiresIn)),
                "expires_in": .string(String(token.expiresIn)), "email": token.claims["email"],
                "email_verified": token.claims["email_verified"].map { .string($0 == true ? "true" : "false") },
                "access_type": "online",
            ])
        )
    }

    private static func userInfo(
        _ query: [String: String], _ tokens: [String: ProviderStandIn.Token]
    ) -> (String, JSON) {
        guard let token = query["access_token"].flatMap({ tokens[$0] }), token.isValid else {
            return ("401 Unauthorized", ["error": "invalid_request", "error_description": "Invalid Credentials"])
        }
        let id = JSON.Member("sub", token.subject.map { .string($0) } ?? .null)
        return ("200 OK", .object([id] + (token.claims.members ?? [])))
    }
}
