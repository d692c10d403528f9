import Cryptography
import Directory
import JSON
import Keys
import OAuth
import Storage
import Values

extension ClientAssertions {
    struct NoKeys: Error {}

    /// Client assertions for tests in which no client publishes keys.
    static func without(_ database: any Database, seal: Seal, clock: any WallClock) -> ClientAssertions {
        ClientAssertions(
            keys: ClientKeys(published: .init(known: { _, _ in throw NoKeys() }, anew: { _, _ in throw NoKeys() })),
            secrets: SignSecrets(seal: seal), issuer: "https://login.example", origin: "https://login.example",
            tokenEndpoints: ["https://login.example/oauth/token"],
            replays: ReplayMemory(database: database, random: SystemRandom()), clock: clock)
    }
}
