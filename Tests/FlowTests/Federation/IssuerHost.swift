import Cryptography
import JOSE
import JSON
import Synchronization
import TestSupport

/// An issuer of ID tokens on 127.0.0.1: publishes its metadata and keys, and signs whatever a test wants.
final class IssuerHost: Sendable {
    /// The response at one path.
    struct Page: Sendable {
        var body: String
        var status = "200 OK"
        var headers: [String] = []

        var bytes: [UInt8] {
            let head = ["HTTP/1.1 \(status)", "Content-Type: application/json", "Connection: close"] + headers
            return Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
        }
    }

    private final class Shelf: Sendable {
        let state = Mutex((pages: [String: Page](), questions: [String]()))
    }

    /// Generating a key takes most of a second, so all hosts share one. Their tokens differ by the issuer's name.
    static let rsa = PrivateKey.generate(.rs256)

    let key: PrivateKey
    private let name: String?
    private let shelf: Shelf
    private let listener: LocalListener

    /// An issuer that calls itself `name`, or by its own URL.
    init(named name: String? = nil, key: PrivateKey = rsa) throws {
        self.name = name
        self.key = key
        let shelf = Shelf()
        self.shelf = shelf
        listener = try LocalListener { line in
            let path = line.split(separator: " ").dropFirst().first.map(String.init) ?? ""
            return shelf.state.withLock { state in
                state.questions.append(path)
                return (state.pages[path] ?? Page(body: "{}", status: "404 Not Found")).bytes
            }
        }
        publish("/discovery", Page(body: document().text))
        publish(key)
    }

    var origin: String { "http://127.0.0.1:\(listener.port)" }
    var issuer: String { name ?? origin }
    /// The URLs that administration registers.
    var discovery: String { origin + "/discovery" }
    var keys: String { origin + "/keys" }

    /// Its metadata, with `changes` over them.
    func document(_ changes: KeyValuePairs<String, JSON> = [:]) -> JSON {
        let good: [JSON.Member] = [
            .init("issuer", .string(issuer)), .init("jwks_uri", .string(keys)),
            .init("authorization_endpoint", .string(origin + "/authorize")),
            .init("token_endpoint", .string(origin + "/token")),
        ]
        let changed = Set(changes.map(\.key))
        let members = good.filter { !changed.contains($0.name) } + changes.map { .init($0.key, $0.value) }
        return .object(members.filter { $0.value != .null })
    }

    func publish(_ path: String, _ page: Page) { shelf.state.withLock { $0.pages[path] = page } }

    func publish(_ keys: PrivateKey...) {
        publish("/keys", Page(body: JSON.members(["keys": .array(keys.map { JSONWebKey($0).json })]).text))
    }

    /// How often `path` was requested.
    func questions(_ path: String) -> Int {
        shelf.state.withLock { state in state.questions.count { $0 == path } }
    }

    func stop() { listener.stop() }

    func sign(_ claims: JSON, type: String = "JWT", with other: PrivateKey? = nil) -> String {
        let key = other ?? key
        return CompactJWS.sign(claims, type: type, key: key, keyID: JSONWebKey(key).keyID)
    }
}
