import Cryptography
import JSON
import Keys
import Storage
import Values

/// The secrets with which Ditto signs its requests. There are two while one replaces the other.
struct DittoSecrets: Sendable, CustomReflectable {
    private static let most = 2
    private static let lengths = 32...1024

    /// In standard base64, as Ditto's portal shows them.
    private let texts: [String]
    let keys: [[UInt8]]

    var customMirror: Mirror { Mirror(self, children: []) }

    private init?(_ texts: [String]) {
        let keys = texts.compactMap(Self.decode)
        guard keys.count == texts.count, keys.allSatisfy({ Self.lengths.contains($0.count) }) else { return nil }
        self.texts = texts
        self.keys = keys
    }

    /// The change in a document: nil leaves the secrets unchanged, an empty list removes them.
    init?(_ members: JSONMembers) throws(JSONFault) {
        guard members.has("secrets") else { return nil }
        let texts = try members.list("secrets", most: Self.most) ?? []
        guard let secrets = DittoSecrets(texts) else {
            throw JSONFault(
                "secrets",
                "an array of at most \(Self.most) secrets as Ditto's portal shows them: base64 of "
                    + "\(Self.lengths.lowerBound) to \(Self.lengths.upperBound) bytes")
        }
        self = secrets
    }

    /// Opens the result of `sealed` for the same row.
    init(opening sealed: String, of webhook: DittoWebhook.ID, with seal: Seal) throws {
        let text = try seal.open(sealed, .webhookSecrets, row: webhook.text)
        guard let texts = try JSON(stored: text).strings, let secrets = DittoSecrets(texts) else {
            throw StorageError.unreadable("webhooks/\(webhook) holds no secrets")
        }
        self = secrets
    }

    /// Nil when there are none.
    func sealed(for webhook: DittoWebhook.ID, with seal: Seal) -> String? {
        guard !texts.isEmpty else { return nil }
        return seal.seal(JSON.array(texts.map { .string($0) }).text, .webhookSecrets, row: webhook.text)
    }

    /// RFC 4648 §4, with or without padding.
    private static func decode(_ text: String) -> [UInt8]? {
        guard !text.contains(where: { $0 == "-" || $0 == "_" }) else { return nil }
        let padding = text.reversed().prefix { $0 == "=" }.count
        guard padding == 0 || (padding <= 2 && text.utf8.count % 4 == 0) else { return nil }
        return Base64URL.decode(text.dropLast(padding).replacing("+", with: "-").replacing("/", with: "_"))
    }
}
