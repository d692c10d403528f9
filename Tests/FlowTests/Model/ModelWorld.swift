import JSON
import Keys
import OAuth
import Storage
import TestSupport
import Testing
import Values

/// The clients that take part in the matrix, beside the phone and its backend of `World`.
struct ModelWorld: Sendable {
    let world: World
    /// A site of Loom, which hears of sign-outs.
    let site: World.Actor
    /// Another app of Loom, with a secret that is in each copy of it.
    let otherApp: World.Actor
    /// A client of each merchant that gets callbacks.
    let receivers: [Receiver: World.Actor]

    /// What stands in for Facebook, where it takes part.
    private let graph: ProviderStandIn?

    /// Who can get a callback.
    enum Receiver: String, Sendable, CaseIterable { case phone, loom, rival }

    /// Nothing listens there: what is to be told stays in the outbox.
    static let unheard: JSON = "http://127.0.0.1:9/unheard"

    init(_ world: World, _ graph: ProviderStandIn?) async throws {
        self.world = world
        self.graph = graph
        site = try await world.website(["backchannel_logout_uri": Self.unheard]).actor
        otherApp = try await world.website(["redirect_uris": ["com.loom.books:/back"]]).actor
        try await world.change("clients", world.app.id, ["callback_uri": Self.unheard])
        receivers = [
            .phone: world.app,
            .loom: try await world.confidential(["callback_uri": Self.unheard]),
            .rival: try await world.confidential(["callback_uri": Self.unheard], of: world.rival),
        ]
    }

    /// A user who has met both merchants, and for whom each client with callbacks acts.
    func user(_ email: String) async throws -> ModelUser {
        let id = try await world.person(email)
        try await world.introduce(id, to: world.rival)
        for receiver in [Receiver.loom, .rival] {
            guard let client = receivers[receiver] else { continue }
            try #require(try await world.signIn(with: client, as: email).status == 200)
        }
        return ModelUser(model: self, id: id, email: email)
    }

    /// Another app of Loom, without a secret.
    func app() async throws -> World.Actor {
        try await World.client(
            world.server, world.admin,
            [
                "merchant_id": .string(world.merchant), "client_name": "Another app of Loom",
                "redirect_uris": ["https://loom.example/another"], "grant_types": ["password", "refresh_token"],
                "scope": "openid profile email", "token_endpoint_auth_method": "none",
            ])
    }

    /// Registers Facebook with Loom.
    func registerFacebook() async throws -> ModelFacebook {
        try await ModelFacebook(try #require(graph), world)
    }

    /// Advances the clock, so that what comes next is younger.
    func tick() { world.server.clock.advance(by: .milliseconds(1)) }

    /// Deletes something through administration, by default as the platform.
    func delete(_ path: String, by token: String? = nil) async throws {
        let gone = try await world.server.send("DELETE", "/admin/v1/\(path)", bearer: token ?? world.admin)
        try #require(gone.status == 204, "\(gone)")
    }

    // MARK: Who was told

    /// A message that waits for its receiver.
    struct Message: Hashable, CustomStringConvertible {
        /// `notice` or `callback`.
        let kind: String
        let client: String
        /// The session that a notice is about.
        let session: String?
        var description: String { "\(kind) to \(client)\(session.map { " of \($0)" } ?? "")" }
    }

    /// What waits, by its id.
    func messages() async throws -> [String: Message] {
        let rows = try await world.server.database.rows(
            "SELECT id, kind, sealed_content FROM deliveries WHERE kind IN ('notice', 'callback') AND failed_at IS NULL"
        )
        return try Dictionary(
            uniqueKeysWithValues: rows.map { row in
                let id: String = try row.get("id")
                let text = try world.server.seal.open(try row.get("sealed_content"), .delivery, row: id)
                let json = try JSON(stored: text)
                return (
                    id,
                    Message(
                        kind: try row.get("kind"), client: json["client"]?.string ?? "",
                        session: json["session"]?.string)
                )
            })
    }
}
