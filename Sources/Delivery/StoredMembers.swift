import JSON

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
