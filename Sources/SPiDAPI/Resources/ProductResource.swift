public import Authentication
public import Directory
import HTTP
import JSON
import OAuth
import SPiD
import Values

/// Products, subscriptions and assets: the server has no shop, so every user has none. Apps and backends continue as
/// they do for a user who bought nothing.
public struct ProductResource: SPiDResource {
    private let finder: UserFinder

    public init(connectedUsers: ConnectedUsers, connections: Connections, merchants: MerchantNumbers) {
        finder = UserFinder(connectedUsers: connectedUsers, connections: connections, merchants: merchants)
    }

    public var routes: [SPiDRoute] {
        [
            SPiDRoute(
                .get, "products", name: "List products", controller: "Product.products", token: .client, isForApps: true
            ) { _ in
                .collection("Product", [])
            },
            none("user/{id}/products", "List products of a user", "User.user_products", of: "Product"),
            none("user/{id}/subscriptions", "List subscriptions", "User.user_subscriptions", of: "Subscription"),
            none("user/{id}/assets", "List assets of a user", "User.user_assets", of: "Asset"),
            SPiDRoute(
                .get, "user/{id}/product/{productId}", name: "Product of a user", controller: "User.user_product",
                token: .either
            ) { call in
                try await check(call)
                throw SPiDRefusal(.notFound, "No access to that product.", reason: "no_products")
            },
        ]
    }

    /// A list for a user that is always empty.
    private func none(_ path: String, _ name: String, _ controller: String, of object: String) -> SPiDRoute {
        SPiDRoute(.get, path, name: name, controller: controller, token: .either) { call in
            try await check(call)
            return .collection(object, [])
        }
    }

    /// Refuses callers that may not know of the user, as all other calls about a user do.
    private func check(_ call: SPiDCall) async throws {
        let caller = try call.caller
        let user = try await finder.user(named: call.path["id"] ?? "", for: caller)
        _ = try await finder.find(user, for: caller)
    }
}
