public import Cryptography
import Storage

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
            // Most clients have registered no OpenID Connect settings.
            let rows = try db.rows(
                "SELECT \(Self.columns) FROM clients WHERE openid <> '{}' AND disabled_at IS NULL")
            return try rows.reduce(into: [.rs256]) { $0.formUnion(try Client($1).openID.signatures) }
        }
    }
}
