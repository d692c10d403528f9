import Cryptography
import Keys
import Synchronization

/// The content that a test's server begins with: made once, by an administrator's requests, and copied for each test.
/// Its ids and secrets are then the same in every test.
struct Beginning: Sendable {
    let content: Content
    let masterKey: MasterKey
    let admin: (id: String, secret: String)
    /// The world as its maker knows it; nil for a server without merchants.
    let world: World?

    /// What two tests must share to begin with the same content.
    struct Kind: Hashable {
        let backend: Backend
        let settings: [String: String]
        let isDevelopment: Bool
        let hasWorld: Bool
        /// Each of two servers in one test has its own.
        let held: Int
    }

    private static let made = Mutex<[Kind: Task<Beginning, any Error>]>([:])

    static func of(_ kind: Kind) async throws -> Beginning {
        try await made.withLock { made in
            if let task = made[kind] { return task }
            let task = Task { try await make(kind) }
            made[kind] = task
            return task
        }.value
    }

    private static func make(_ kind: Kind) async throws -> Beginning {
        let database = try await LentDatabase.take(kind.backend, with: .nothing)
        let fixture = try TestServer.Fixture(
            kind.backend, InterruptedDatabase(database), masterKey: .random(from: SystemRandom()),
            settings: kind.settings, isDevelopment: kind.isDevelopment)
        let admin = try await fixture.prepare(kind.held)
        let world = kind.hasWorld ? try await TestServer.open(fixture, admin) { try await World($0) } : nil
        return Beginning(
            content: try await Content.of(database), masterKey: fixture.masterKey, admin: admin, world: world)
    }
}
