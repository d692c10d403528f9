public import Directory
import HTTP
public import HTTPSupport
import JSON
import OAuth
public import Values

/// SPiD's calls about what a page's user bought: the server has no shop, so the answer is always nothing.
public struct NoProductsEndpoint: Endpoint {
    private let clients: Clients
    private let clock: any WallClock

    public init(clients: Clients, clock: any WallClock) {
        self.clients = clients
        self.clock = clock
    }

    public func add(to router: inout Routes) {
        router.get("/ajax/hasproduct.js", .hasProductByScript, use: script)
        router.get("/ajax/hassubscription.js", .hasProductByScript, use: script)
        router.get("/hasProduct/{id}", .hasProduct, use: one)
        router.get("/hasSubscription/{id}", .hasProduct, use: one)
        router.get("/hasAccess/{ids}", .hasAccess) { request, context in
            try await PageFetch.answer(request, context, clients: clients) { _ in
                .members([
                    "entitled": false, "allowedFeatures": .array([]), "ttl": .integer(Self.memory.seconds),
                ])
            }
        }
    }

    /// How long a page may keep the answer.
    private static let memory: Duration = .seconds(300)
    /// The longest product id that is returned, in characters.
    private static let longest = 100

    @Sendable private func script(_ request: Request, context: SpindleContext) async throws -> Response {
        let product = (try? request.query)?["product_id"] ?? ""
        return try await ScriptCall.answer(request, context, clients: clients) { _ in
            ScriptCall.Answer(json: none(product))
        }
    }

    @Sendable private func one(_ request: Request, context: SpindleContext) async throws -> Response {
        let product = try context.parameters.require("id")
        return try await PageFetch.answer(request, context, clients: clients) { _ in none(product) }
    }

    private func none(_ product: String) -> JSON {
        .members([
            "result": false, "productId": .string(String(product.prefix(Self.longest))),
            "serverTime": .integer(clock.now.seconds), "expiresIn": .integer(Self.memory.seconds),
        ])
    }
}
