public import Cryptography
import Keys
import Storage
import Values

extension OpenIDSettings {
    /// What we sign for the client with.
    var signatures: Set<PrivateKey.Algorithm> {
        Set([idTokenAlgorithm, userinfoAlgorithm].compactMap(\.self))
    }
}

extension Clients {
    /// The algorithms that our own signatures are made with: RS256, and what clients ask for.
    public func algorithmsInUse() async throws -> Set<PrivateKey.Algorithm> {
        try await database.read { db in
            // Most clients have never said anything of OpenID Connect.
            let rows = try db.rows(
                "SELECT \(Self.columns) FROM clients WHERE openid <> '{}' AND disabled_at IS NULL")
            return try rows.reduce(into: [.rs256]) { $0.formUnion(try Client($1).openID.signatures) }
        }
    }

    /// Makes the keys that `settings` ask for and that there are none of, so that everybody can know them before they sign.
    /// RS256 is there from the start.
    func publishKeys(for settings: OpenIDSettings) async throws {
        let algorithms = settings.signatures.subtracting([.rs256]).sorted { $0.rawValue < $1.rawValue }
        guard !algorithms.isEmpty else { return }
        try await SigningKeys(database: database, seal: seal).createMissing(algorithms, at: clock.now)
    }
}
