import HTTP
import HTTPSupport
import JSON
import OAuth
import Values

/// One page of a list, with an opaque cursor to the next page.
struct ListPage {
    /// The parameters that each list's route declares, besides its filters.
    static let parameters: [Operation.Parameter] = [
        .init("limit", .number(1...Int64(size)), "how many at most; \(size) by default"),
        .init("cursor", .text, "`next` of the page before, with the same filters"),
    ]
    /// Those of a list that can be counted too, and sorted by `orders`.
    static func parameters<Order>(sortedBy orders: Order.Type) -> [Operation.Parameter]
    where Order: RawRepresentable<String> & CaseIterable {
        parameters + [
            .init("sort", .word(orders.allCases.flatMap { [$0.rawValue, "-\($0.rawValue)"] }), "the order"),
            .init("count", .flag, "`true`: the answer says how many items the whole list has"),
        ]
    }
    /// What does not change which items a list has, and in which order.
    private static let names: Set = ["limit", "cursor", "count"]
    private static let size = 100
    /// The largest page in bytes: other requests wait while a page is written.
    private static let most = 256 * 1024
    /// The position of the previous page's last item; empty for the first page.
    let after: String
    let count: Int
    /// Whether the answer says how many items the whole list has.
    let isCounted: Bool
    private let list: ListCursor

    init(_ request: Request, _ context: SpindleContext) throws {
        let query = try request.query
        list = ListCursor(
            of: request.target.path.split(separator: "/").dropFirst(2).joined(separator: "/"),
            filters: query.pairs.filter { !Self.names.contains($0.name) })
        count = try query["limit"].map(Self.limit) ?? Self.size
        isCounted = try query.flag("count") ?? false
        guard let cursor = query["cursor"] else {
            after = ""
            return
        }
        guard let position = list.position(of: cursor) else { throw Self.badCursor }
        after = position
    }

    private static func limit(_ text: String) throws -> Int {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let limit = Int(text),
            (1...size).contains(limit)
        else { throw Problem(parameter: "limit", "must be a whole number from 1 to \(size)") }
        return limit
    }

    static let badCursor = Problem(
        parameter: "cursor", "must be 'next' of an earlier page of the same list with the same filters")

    /// The place of the previous page's last item, read by `read`; nil for the first page.
    func place<Place>(_ read: (String) -> Place?) throws -> Place? {
        guard !after.isEmpty else { return nil }
        guard let place = read(after) else { throw Self.badCursor }
        return place
    }

    /// `items` has one item more than the page if there is a next page. `json` is not called for items that do not fit.
    /// - Parameter total: how many items the whole list has, if the caller asked; nil within if they are too many.
    func response<Item>(
        _ items: [Item], total: Int?? = nil, json: (Item) throws -> JSON, cursor: (Item) -> String
    ) rethrows -> Response {
        var shown: [JSON] = []
        var size = 0
        for item in items.prefix(count) where size < Self.most {
            let item = try json(item)
            size += item.text.utf8.count
            shown.append(item)
        }
        let last = items.count > shown.count ? items.prefix(shown.count).last : nil
        let next = last.map { JSON.string(list.text(after: cursor($0))) }
        let number: JSON? = total.map { $0.map { .integer(Int64($0)) } ?? .null }
        return .json(.members(["items": .array(shown), "next": next ?? .null, "count": number]))
    }

    /// A page of `items`, which are all of the list, in the order of their positions.
    func response<Item>(
        of items: [Item], json: (Item) throws -> JSON, cursor: (Item) -> String
    ) rethrows -> Response {
        try response(items.filter { cursor($0) > after }, json: json, cursor: cursor)
    }
}
