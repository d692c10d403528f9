import Storage
public import Values

/// Which clients a list shows, and in which order. All conditions hold together.
public struct ClientSearch: Sendable {
    public enum Order: String, Sendable, CaseIterable {
        case id = "client_id"
        case name = "client_name"
    }

    /// Only clients of this merchant.
    public var merchant: Merchant.ID?
    public var id: Client.ID?
    public var name: String?
    /// A redirect URI, as it was registered.
    public var redirectURI: String?
    public var order = Order.id
    public var isDescending = false

    public init(of merchant: Merchant.ID? = nil) { self.merchant = merchant }

    /// The place of a client in the list.
    public struct Place: Sendable {
        public let name: String
        public let id: Client.ID

        public init(name: String = "", id: Client.ID) {
            self.name = name
            self.id = id
        }
    }

    var condition: SQL {
        let all: [SQL?] = [
            merchant.map { "clients.merchant_id = \($0)" }, id.map { "clients.id = \($0)" },
            name.map { "clients.name = \($0)" },
            redirectURI.map { "clients.id IN (\(ClientRedirectURIs.clients(with: $0)))" },
        ]
        return all.compactMap(\.self).reduce(.always) { "\($0) AND \($1)" }
    }

    func after(_ place: Place?) -> SQL {
        guard let place else { return .always }
        return switch (order, isDescending) {
        case (.id, false): "clients.id > \(place.id)"
        case (.id, true): "clients.id < \(place.id)"
        case (.name, false): "(clients.name, clients.id) > (\(place.name), \(place.id))"
        case (.name, true): "(clients.name, clients.id) < (\(place.name), \(place.id))"
        }
    }

    var orderBy: SQL {
        switch (order, isDescending) {
        case (.id, false): "clients.id"
        case (.id, true): "clients.id DESC"
        case (.name, false): "clients.name, clients.id"
        case (.name, true): "clients.name DESC, clients.id DESC"
        }
    }
}
