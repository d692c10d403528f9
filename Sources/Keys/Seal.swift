public import Cryptography
public import Storage

/// Where a sealed value is stored. Each place has its own key, and each row its own context.
public enum SealedPlace: String, Sendable, CaseIterable {
    case signingKey = "signing_keys.private_key"
    case signSecret = "clients.sign_secret"
    case issuerSecret = "issuers.secret"
    case appSecret = "issuers.app_secret"
    case upstreamSecret = "issuers.client_secret"
    case webhookSecrets = "webhooks.secrets"
    case delivery = "deliveries.content"
    case idempotentAnswer = "idempotent_answers.answer"

    /// The purpose that the place's key is derived for.
    var purpose: String { rawValue }

    var table: Substring { rawValue.prefix { $0 != "." } }

    /// Binds a sealed value to its row: moved to another row, it does not open.
    func context(row: String) -> String { "\(table)/\(row)" }
}

/// Seals stored secrets that must be used again, under keys derived from the master key.
public struct Seal: Sendable {
    let masterKey: MasterKey
    private let signingKey: SealingKey
    private let signSecret: SealingKey
    private let issuerSecret: SealingKey
    private let appSecret: SealingKey
    private let upstreamSecret: SealingKey
    private let webhookSecrets: SealingKey
    private let delivery: SealingKey
    private let idempotentAnswer: SealingKey
    /// The key for marks, kept because marking is frequent.
    let marking: [UInt8]
    /// A condition for the statement that stores a sealed value, which saves a query: the database has not been
    /// resealed under another key. `confirm` then tells why nothing was stored.
    public let isConfirmed: SQL
    let random: any RandomSource

    public init(masterKey: MasterKey, random: any RandomSource) {
        self.masterKey = masterKey
        self.signingKey = masterKey.sealing(for: SealedPlace.signingKey.purpose)
        self.signSecret = masterKey.sealing(for: SealedPlace.signSecret.purpose)
        self.issuerSecret = masterKey.sealing(for: SealedPlace.issuerSecret.purpose)
        self.appSecret = masterKey.sealing(for: SealedPlace.appSecret.purpose)
        self.upstreamSecret = masterKey.sealing(for: SealedPlace.upstreamSecret.purpose)
        self.webhookSecrets = masterKey.sealing(for: SealedPlace.webhookSecrets.purpose)
        self.delivery = masterKey.sealing(for: SealedPlace.delivery.purpose)
        self.idempotentAnswer = masterKey.sealing(for: SealedPlace.idempotentAnswer.purpose)
        self.marking = masterKey.sealing(for: Self.marks).derivedBytes(for: Self.marks)
        isConfirmed = MasterKeyCheck(masterKey).isNotReplaced
        self.random = random
    }

    /// Seals `text` for one row of `place`.
    public func seal(_ text: String, _ place: SealedPlace, row: String) -> String {
        key(of: place).seal(Array(text.utf8), context: place.context(row: row), random: random)
    }

    /// Opens the result of `seal`. Throws `StorageError.unopened` if it was altered, moved or sealed by another key.
    public func open(_ sealed: String, _ place: SealedPlace, row: String) throws -> String {
        guard let bytes = key(of: place).open(sealed, context: place.context(row: row)),
            let text = String(validating: bytes, as: UTF8.self)
        else { throw StorageError.unopened("\(place.context(row: row)) does not open under the master key") }
        return text
    }

    /// Throws when the database has been resealed under another key. Called in the transaction that stores a sealed
    /// value: a node that still has the old key must not store values that can never be opened.
    public func confirm(in db: any Transaction) throws {
        guard try !MasterKeyCheck(masterKey).isReplaced(in: db) else {
            throw StorageError.unopened("the database has another master key by now: restart this server with it")
        }
    }

    private func key(of place: SealedPlace) -> SealingKey {
        switch place {
        case .signingKey: signingKey
        case .signSecret: signSecret
        case .issuerSecret: issuerSecret
        case .appSecret: appSecret
        case .upstreamSecret: upstreamSecret
        case .webhookSecrets: webhookSecrets
        case .delivery: delivery
        case .idempotentAnswer: idempotentAnswer
        }
    }
}

// MARK: - Under the master key and another secret

/// Places of values that only the holder of a secret can have opened.
public enum SealedForHolder: String, Sendable {
    /// A refresh token's successor, for the holder of the token.
    case successor = "refresh_tokens.successor"
    /// The ID token that came with an authorization request, for the holder of the interaction's id.
    case hint = "interactions.id_token_hint"
}

extension Seal {
    /// Seals `text` so that opening it takes both `secret` and the master key.
    public func seal(_ text: String, _ place: SealedForHolder, of secret: String, row: String) -> String {
        key(of: place, secret).seal(Array(text.utf8), context: row, random: random)
    }

    /// Opens the result of `seal`, or returns nil when secret, row or a bit differs.
    public func open(_ sealed: String, _ place: SealedForHolder, of secret: String, row: String) -> String? {
        key(of: place, secret).open(sealed, context: row).flatMap { String(validating: $0, as: UTF8.self) }
    }

    private func key(of place: SealedForHolder, _ secret: String) -> SealingKey {
        masterKey.sealing(for: place.rawValue, salt: Array(secret.utf8))
    }
}

extension Seal: CustomStringConvertible, CustomReflectable {
    public var description: String { "<seal>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

// One-time codes that are not stored before they are redeemed, and contain what they are for.
extension Seal {
    /// Seals `content` under a separate key derived from `id`, so that the number of codes has no limit (NIST SP
    /// 800-38D §8.3). It does not open with another id.
    public func sealCode(_ content: [UInt8], id: String) -> String {
        codeKey(id).seal(content, context: Self.codes, random: random)
    }

    /// Opens the result of `sealCode`, or returns nil when the id, the master key or a bit differs.
    public func openCode(_ sealed: String, id: String) -> [UInt8]? {
        codeKey(id).open(sealed, context: Self.codes)
    }

    private static let codes = "token_families"

    private func codeKey(_ id: String) -> SealingKey {
        masterKey.sealing(for: "token_families.code", salt: Array(id.utf8))
    }
}

/// Values derived from the master key together with a secret that another party holds: neither is enough alone.
extension Seal {
    /// The value of `purpose` for the holder of `half`: 256 bits, base64url.
    public func derive(_ purpose: String, of half: String) -> String {
        Base64URL.encode(key(purpose, half).derivedBytes(for: purpose))
    }

    private func key(_ purpose: String, _ half: String) -> SealingKey {
        masterKey.sealing(for: purpose, salt: Array(half.utf8))
    }
}

// Texts that others keep, and that this server recognizes as its own without storing them.
extension Seal {
    static let marks = "marks"

    /// How many characters a mark has: 128 bits, base64url.
    public static let markLength = 22

    /// The mark of `text` under the master key: an HMAC-SHA-256, truncated to half (RFC 2104 §5). All purposes share
    /// one key, so `text` must name its purpose.
    public func mark(_ text: String) -> String {
        Base64URL.encode(Array(Digest.hmacSHA256(Array(text.utf8), key: marking).prefix(16)))
    }

    /// Whether `mark` is that of `text`, in constant time.
    public func isMark(_ mark: some StringProtocol, of text: String) -> Bool {
        constantTimeEqual(mark.utf8, self.mark(text).utf8)
    }
}
