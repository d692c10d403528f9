import HTTP
import HTTPSupport
import JSON
import OAuth

/// One page of a list, and an opaque cursor to the next.
struct ListPage {
    static let size = 100
    /// In bytes: a page ends early when it is this large, since others wait while it is written.
    private static let most = 256 * 1024
    let after: String
    let count: Int

    init(_ request: Request) throws {
        let query = try request.query
        after = query["cursor"] ?? ""
        count = query["limit"].flatMap(Int.init).map { min(max($0, 1), Self.size) } ?? Self.size
    }

    /// `items` holds one more than the page if there is a next page. Of those that do not fit none is asked for `json`.
    func response<Item>(
        _ items: [Item], json: (Item) throws -> JSON, cursor: (Item) -> String
    ) rethrows -> Response {
        var shown: [JSON] = []
        var size = 0
        for item in items.prefix(count) where size < Self.most {
            let item = try json(item)
            size += item.text.utf8.count
            shown.append(item)
        }
        let next = items.count > shown.count ? items.prefix(shown.count).last.map { JSON.string(cursor($0)) } : nil
        return .json(.members(["items": .array(shown), "next": next ?? .null]))
    }
}
