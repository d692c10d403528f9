public import Cryptography
import Keys
import Storage
import Values

extension OpenIDSettings {
    /// The algorithms of the signatures that the client asks for.
    var signatures: Set<PrivateKey.Algorithm> {
        Set([idTokenAlgorithm.ofKey, userinfoAlgorithm].compactMap(\.self))
    }
}

extension Clients {
    /// The algorithms of the server's signatures: RS256 and those that enabled clients ask for.
    public func algorithmsInUse() async throws -> Set<PrivateKey.Algorithm> {
        try await database.read { db in
            // Most clients have registered nothing of OpenID Connect.
            let rows = try db.rows(
                "SELECT \(Self.columns) FROM clients WHERE openid <> '{}' AND disabled_at IS NULL")
            return try rows.reduce(into: [.rs256]) { $0.formUnion(try Client($1).openID.signatures) }
        }
    }

    /// Creates missing keys for the algorithms in `settings`, so that clients can read them before they sign. RS256
    /// exists from the start.
    func publishKeys(for settings: OpenIDSettings) async throws {
        let algorithms = settings.signatures.subtracting([.rs256]).sorted { $0.rawValue < $1.rawValue }
        guard !algorithms.isEmpty else { return }
        try await StoredSigningKeys(database: database, seal: seal).createMissing(algorithms, at: clock.now)
    }
}
