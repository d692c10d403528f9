import Cryptography
import Foundation
import JOSE
import JSON
import Synchronization
import TestSupport

/// An identity provider on 127.0.0.1: it redeems every code for what the test says, and records the requests.
final class IdentityProviderStandIn: Sendable {
    /// A request to its token endpoint.
    struct Redemption: Sendable {
        let form: [String: String]
        let authorization: String?
    }

    private final class Shelf: Sendable {
        let state = Mutex((pages: [String: IssuerHost.Page](), redemptions: [Redemption](), bearers: [String]()))
    }

    let key = PrivateKey.generate(.es256)
    let name: String?
    private let shelf: Shelf
    private let listener: LocalListener

    init(named name: String? = nil, _ changes: KeyValuePairs<String, JSON> = [:]) throws {
        self.name = name
        let shelf = Shelf()
        self.shelf = shelf
        listener = try LocalListener(serving: { connection in
            guard let head = connection.head(), let line = head.first else { return }
            let target = line.split(separator: " ").dropFirst().first.map(String.init) ?? ""
            let path = String(target.prefix { $0 != "?" })
            let authorization = LocalListener.Connection.header("authorization", in: head)
            let redemption = connection.body(after: head).map { body in
                Redemption(form: Self.pairs(body), authorization: authorization)
            }
            let page = shelf.state.withLock { state in
                if path == "/userinfo", let authorization { state.bearers.append(authorization) }
                if path.hasSuffix("token"), let redemption { state.redemptions.append(redemption) }
                return state.pages[path] ?? IssuerHost.Page(body: "{}", status: "404 Not Found")
            }
            connection.send(page.bytes)
        })
        publish("/discovery", JSON.object(document.changed(changes)))
        publish("/keys", ["keys": [JSONWebKey(key).json]])
    }

    var origin: String { "http://127.0.0.1:\(listener.port)" }
    var issuer: String { name ?? origin }
    /// The bearer tokens that its userinfo endpoint received.
    var bearers: [String] { shelf.state.withLock(\.bearers) }

    private var document: [JSON.Member] {
        [
            .init("issuer", .string(issuer)), .init("jwks_uri", .string(origin + "/keys")),
            .init("authorization_endpoint", .string(origin + "/authorize")),
            .init("token_endpoint", .string(origin + "/token")),
        ]
    }
    var redemptions: [Redemption] { shelf.state.withLock(\.redemptions) }

    func publish(_ path: String, _ json: JSON, status: String = "200 OK") {
        publish(path, text: json.text, status: status)
    }

    func publish(_ path: String, text: String, status: String = "200 OK") {
        shelf.state.withLock { $0.pages[path] = IssuerHost.Page(body: text, status: status) }
    }

    /// Adds an endpoint to its metadata.
    func addEndpoint(_ name: String, _ path: String) {
        publish("/discovery", .object(document.changed([name: .string(origin + path)])))
    }

    func stop() { listener.stop() }

    func sign(_ claims: JSON, with other: PrivateKey? = nil, type: String = "JWT") -> String {
        let key = other ?? key
        return CompactJWS.sign(claims, type: type, key: key, keyID: JSONWebKey(self.key).keyID)
    }

    private static func pairs(_ body: String) -> [String: String] {
        var pairs: [String: String] = [:]
        for pair in body.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1).map { String($0).removingPercentEncoding ?? "" }
            if parts.count == 2 { pairs[parts[0]] = parts[1] }
        }
        return pairs
    }
}
