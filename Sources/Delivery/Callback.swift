import JSON

/// A message to a client's own server. Its body, or its signature, already proves that it comes from us.
public struct Callback: Sendable, Equatable {
    public internal(set) var url: String
    public let body: String
    public let contentType: String
    /// The header `spindle-signature`, for a body that has no place for one.
    let signature: String?
    /// The client that it is for, whose current address is looked up when it is sent.
    let client: String?

    public init(url: String, body: String, contentType: String, client: String? = nil) {
        self.init(url: url, body: body, contentType: contentType, signature: nil, client: client)
    }

    init(url: String, body: String, contentType: String, signature: String?, client: String? = nil) {
        self.client = client
        self.url = url
        self.body = body
        self.contentType = contentType
        self.signature = signature
    }
}

/// The stored content of a delivery.
struct StoredMembers {
    private let json: JSON

    init(_ stored: String) throws {
        guard let json = try? JSON(stored: stored) else { throw Self.unreadable }
        self.json = json
    }

    func text(_ name: String) throws -> String {
        guard let text = json[name]?.string else { throw Self.unreadable }
        return text
    }

    func optionalText(_ name: String) -> String? { json[name]?.string }

    private static let unreadable = Undeliverable.refused("its content is not what this program stores")
}
