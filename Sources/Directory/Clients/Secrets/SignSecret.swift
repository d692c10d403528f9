import Cryptography
package import JOSE
public import JSON
public import Keys
public import Values

/// The key with which a client and the server sign messages to each other, as SPiD does.
public struct SignSecret: Sendable {
    private let key: [UInt8]

    public init(_ text: String) { key = Array(text.utf8) }

    /// The two parts of a signed message, both base64url without padding.
    public struct Signed: Sendable {
        public let payload: String
        public let signature: String
        /// SPiD's signed request.
        public var request: String { signature + "." + payload }
    }

    /// Signs the encoded payload.
    public func signed(_ json: JSON) -> Signed {
        let payload = Base64URL.encode(json.bytes)
        return Signed(payload: payload, signature: signature(of: payload))
    }

    /// A JWT of `claims`, signed by HS256, with `type` in its header (RFC 8725 §3.11).
    public func sign(_ claims: JSON, type: String) -> String { CompactJWS.sign(claims, type: type, secret: key) }

    private func signature(of text: String) -> String {
        Base64URL.encode(Digest.hmacSHA256(Array(text.utf8), key: key))
    }

    /// No real client signs more parameters. Hashing a longer request would cost too much time.
    public static let mostHashed = 1000

    /// Whether `hash` is SPiD's verified hash of `pairs`: of their values, in the natural order of their names.
    public func isHash(_ hash: String, of pairs: [(name: String, value: String)]) -> Bool {
        guard pairs.count <= Self.mostHashed else { return false }
        return HashedParameters.texts(of: pairs).contains { text in
            constantTimeEqual(Array(hash.utf8), Array(signature(of: text).utf8))
        }
    }

    /// Whether `signature` is the base64url HMAC-SHA256 of `text`: HS256 as in RFC 7515 (§A.1).
    public func isSignature(_ signature: String, of text: [UInt8]) -> Bool {
        let expected = Base64URL.encode(Digest.hmacSHA256(text, key: key))
        return constantTimeEqual(Array(signature.utf8), Array(expected.utf8))
    }

    /// Whether `signature` is the lowercase hexadecimal HMAC-SHA256 of `text`, as SPiD's apps sign their assertions.
    public func isHexSignature(_ signature: String, of text: [UInt8]) -> Bool {
        let digest = Digest.hmacSHA256(text, key: key)
        let digits = Hexadecimal.encode(digest)
        return constantTimeEqual(Array(signature.utf8), Array(digits.utf8))
    }
}

/// Opens the sign secrets of clients.
public struct SignSecrets: Sendable {
    private let seal: Seal

    public init(seal: Seal) { self.seal = seal }

    public func open(_ client: Client) throws -> SignSecret {
        SignSecret(try seal.open(client.sealedSignSecret, .signSecret, row: client.id.text))
    }

    /// The key that verifies the HMACs of a client that signs with its sign secret.
    package func keys(of client: Client) throws -> AssertionKeys {
        AssertionKeys(secret: try seal.open(client.sealedSignSecret, .signSecret, row: client.id.text))
    }
}

/// SPiD's `sp_id`, by which a paywall in front of a client's pages, such as Varnish, knows a user.
///
/// A JWT (HS256) under the client's sign secret, which the paywall verifies by itself. It contains no secret of ours,
/// opens nothing here, and has no issuer, so it cannot be mistaken for an ID token. Only for a SPiD-compatible client,
/// which knows its users' numbers.
extension SignSecrets {
    /// Longer than a page's script may keep a response, and than an unused session lives: a signed-in user gets a new
    /// one in time.
    public static let paywallLifetime: Duration = .days(7)

    public func paywallID(of user: User, for client: Client, at now: Timestamp) throws -> String {
        let claims: JSON = .members([
            "sub": .string(user.uuid), "aud": .string(client.id.text), "iat": .integer(now.seconds),
            "exp": .integer((now + Self.paywallLifetime).seconds),
        ])
        return try open(client).sign(claims, type: "sp_id+jwt")
    }
}

/// The parameters of a POST as SPiD's verified hash reads them: a nested parameter (`items[0][price]`) belongs to the
/// level of its name. The values are joined level by level in the natural order of the names.
///
/// A class, so that a level with many parameters grows in place and is never copied.
final class HashedParameters {
    private enum Value {
        case text(String)
        case level(HashedParameters)
    }

    /// In the order of their first occurrence.
    private var names: [String] = []
    private var values: [String: Value] = [:]

    /// No real request nests deeper. A name that does is taken as a plain name.
    private static let mostLevels = 64

    /// The two texts that a client may have hashed, made lazily. PHP's SDK hashes the members of a nested value, but
    /// sends the value as JSON. A client that encodes the value first hashes the JSON text.
    static func texts(of pairs: [(name: String, value: String)]) -> some Sequence<String> {
        [false, true].lazy.map { HashedParameters(pairs, unfoldingJSON: $0).text }
    }

    private init() {}

    private init(_ pairs: [(name: String, value: String)], unfoldingJSON: Bool) {
        for (name, value) in pairs {
            set(Self.path(name)[...], unfoldingJSON ? Self.unfolded(value) : .text(value))
        }
    }

    private init(_ members: [(name: String, value: Value)]) {
        for (name, value) in members { set([name], value) }
    }

    /// If a name is repeated, its last value counts.
    private func set(_ path: ArraySlice<String>, _ value: Value) {
        guard let first = path.first else { return }
        // An empty name is the next item of a list.
        let name = first.isEmpty ? String(names.count) : first
        let rest = path.dropFirst()
        if values[name] == nil { names.append(name) }
        guard !rest.isEmpty else { return values[name] = value }
        if case .level(let known) = values[name] { return known.set(rest, value) }
        let level = HashedParameters()
        level.set(rest, value)
        values[name] = .level(level)
    }

    private var text: String {
        names.enumerated().sorted { left, right in
            let order = NaturalOrder.compare(left.element, right.element)
            return order == 0 ? left.offset < right.offset : order < 0
        }.map { _, name in
            switch values[name] {
            case .text(let text): text
            case .level(let level): level.text
            case nil: ""
            }
        }.joined()
    }

    /// `a[b][]` is `a`, `b` and an empty name. A malformed name is one name.
    private static func path(_ name: String) -> [String] {
        guard name.hasSuffix("]"), let bracket = name.firstIndex(of: "["), bracket > name.startIndex else {
            return [name]
        }
        let inner = name[name.index(after: bracket)...].dropLast()
            .split(separator: "][", omittingEmptySubsequences: false).map(String.init)
        guard inner.count < mostLevels, !inner.contains(where: { $0.contains("[") || $0.contains("]") }) else {
            return [name]
        }
        return [String(name[..<bracket])] + inner
    }

    private static func unfolded(_ text: String) -> Value {
        guard text.hasPrefix("{") || text.hasPrefix("["), let json = try? JSON(parsing: Array(text.utf8)) else {
            return .text(text)
        }
        return value(json)
    }

    /// The value as PHP converts it to text.
    private static func value(_ json: JSON) -> Value {
        switch json {
        case .object(let members): .level(HashedParameters(members.map { ($0.name, value($0.value)) }))
        case .array(let values): .level(HashedParameters(values.enumerated().map { ("\($0)", value($1)) }))
        case .string(let text): .text(text)
        case .bool(let flag): .text(flag ? "1" : "")
        case .null: .text("")
        case .integer, .number: .text(json.text)
        }
    }
}
