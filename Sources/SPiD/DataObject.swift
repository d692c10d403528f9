package import Directory
package import JSON
import Storage
package import Values

/// A text that a client keeps here under a key.
package struct DataObject: Sendable {
    /// The owner: a client itself, or one of its users.
    package struct Owner: Sendable {
        let client: Client.ID
        let user: UserID?

        package init(client: Client.ID, user: UserID?) {
            self.client = client
            self.user = user
        }

        /// Each owner has one object per key.
        func id(of key: String) -> String {
            let place: JSON = .array([.string(client.text), .string(user?.description ?? ""), .string(key)])
            return Fingerprint<DataObject>(of: place.text).text
        }
    }

    /// In bytes of UTF-8.
    package static let longestKey = 255
    package static let longestValue = 60_000
    /// The most objects that one owner has, and the most bytes of values in all.
    package static let most = 100
    package static let mostBytes = 256 * 1024

    let id: String
    let owner: Owner
    let key: String
    let value: String
    let createdAt: Timestamp
    var updatedAt: Timestamp

    /// As SPiD shows it: texts only.
    package func member(merchant: Int64?) -> JSON.Member {
        JSON.Member(
            id,
            .members([
                "dataObjectId": .string(id), "clientId": .string(owner.client.text),
                "merchantId": .string(merchant.map { "\($0)" } ?? ""),
                "userId": .string(owner.user?.description ?? ""), "key": .string(key), "value": .string(value),
                "updated": .string(updatedAt.spidText), "created": .string(createdAt.spidText),
            ]))
    }
}

extension DataObject {
    static let columns: SQL.Columns = "id, client_id, user_id, name, value, created_at, updated_at"

    init(_ row: Row) throws {
        let user: Int64? = try row.get("user_id")
        self.init(
            id: try row.get("id"),
            owner: Owner(client: try row.get("client_id"), user: user.map { UserID($0) }),
            key: try row.get("name"), value: try row.get("value"), createdAt: try row.get("created_at"),
            updatedAt: try row.get("updated_at"))
    }
}
