import Storage
public import Values

/// Which merchants a list shows, and in which order. All conditions hold together.
public struct MerchantSearch: Sendable {
    public enum Order: String, Sendable, CaseIterable { case id, name }

    public var id: Merchant.ID?
    public var name: String?
    /// A redirect URI of one of its clients, as it was registered.
    public var redirectURI: String?
    public var order = Order.id
    public var isDescending = false

    public init(id: Merchant.ID? = nil) { self.id = id }

    /// The place of a merchant in the list.
    public struct Place: Sendable {
        public let name: String
        public let id: Merchant.ID

        public init(name: String = "", id: Merchant.ID) {
            self.name = name
            self.id = id
        }
    }

    var condition: SQL {
        let all: [SQL?] = [
            id.map { "id = \($0)" }, name.map { "name = \($0)" },
            redirectURI.map {
                """
                id IN (SELECT c.merchant_id FROM clients c
                    WHERE c.deleted_at IS NULL AND c.id IN (\(ClientRedirectURIs.clients(with: $0))))
                """
            },
        ]
        return all.compactMap(\.self).reduce(.always) { "\($0) AND \($1)" }
    }

    func after(_ place: Place?) -> SQL {
        guard let place else { return .always }
        return switch (order, isDescending) {
        case (.id, false): "id > \(place.id)"
        case (.id, true): "id < \(place.id)"
        case (.name, false): "(name, id) > (\(place.name), \(place.id))"
        case (.name, true): "(name, id) < (\(place.name), \(place.id))"
        }
    }

    var orderBy: SQL {
        switch (order, isDescending) {
        case (.id, false): "id"
        case (.id, true): "id DESC"
        case (.name, false): "name, id"
        case (.name, true): "name DESC, id DESC"
        }
    }
}
