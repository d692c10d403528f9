import Cryptography
public import JSON
public import Storage
import Text

/// The entity tag of a document (RFC 9110 §8.8.3): documents with the same one are equal.
public struct EntityTag: Sendable, Hashable {
    public let text: String

    public init(of document: JSON) {
        text = "\"\(Base64URL.encode(Array(Digest.sha256(document.bytes).prefix(16))))\""
    }
}

/// The document has changed since the administrator read it.
public struct PreconditionFailed: Error, Sendable {}

extension Administrator {
    /// The same administrator, whose change of a document is refused unless that is `expected` still: the value of
    /// `If-Match` (RFC 9110 §13.1.1), or nil for any. `current` reads the document in the transaction of the change.
    public func expecting(
        _ expected: String?, _ current: @escaping @Sendable (any Transaction) throws -> JSON?
    ) -> Administrator {
        guard let expected else { return self }
        let tags = expected.split(separator: ",").map { String($0.trimming { $0 == " " || $0 == "\t" }) }
        guard tags != ["*"] else { return self }
        return on { db in
            guard let document = try current(db) else { return }
            guard tags.contains(EntityTag(of: document).text) else { throw PreconditionFailed() }
        }
    }
}
