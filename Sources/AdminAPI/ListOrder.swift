import HTTPSupport
import JSON

/// The order that a list is asked for in: `sort` names a member, and a hyphen before it turns the order round.
struct ListOrder<Order: RawRepresentable & CaseIterable & Sendable>: Sendable where Order.RawValue == String {
    let order: Order
    let isDescending: Bool

    /// Nil if the query names no order.
    init?(_ query: Form) throws {
        guard let text = query["sort"] else { return nil }
        isDescending = text.hasPrefix("-")
        guard let order = Order(rawValue: String(isDescending ? text.dropFirst() : text[...])) else {
            let names = Order.allCases.map(\.rawValue).joined(separator: ", ")
            throw Problem(parameter: "sort", "must be one of \(names), or one of them after a hyphen")
        }
        self.order = order
    }
}

extension Form {
    /// The parameter `name`, which is `true` or `false`.
    func flag(_ name: String) throws -> Bool? {
        switch self[name] {
        case nil: nil
        case "true": true
        case "false": false
        default: throw Problem(parameter: name, "must be true or false")
        }
    }
}
