import Storage
import Values

/// What is shown of a client that a user has used. A user may have a thousand clients; reading them whole is expensive.
package struct UsedClient: Sendable {
    package let id: Client.ID
    package let name: String
    /// The origin of its first web page.
    package let origin: String?

    package init(_ client: Client) {
        id = client.id
        name = client.name
        origin = client.webPages.first?.origin
    }

    init(_ row: Row) throws {
        id = try row.get("id")
        name = try row.get("name")
        let pages = try row.get("first_pages", as: String.self)
        origin = pages.isEmpty ? nil : WebPages(stored: String(pages.prefix { $0 != "\n" })).origin
    }
}
