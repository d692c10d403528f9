import Keys
import OAuth
import Storage
import Values

extension JWTAccessTokens {
    /// With the public subject identifiers, which all clients share.
    static func signed(under seal: Seal, in database: any Database, clock: any WallClock) -> JWTAccessTokens {
        let ring = KeyRing(keys: StoredSigningKeys(database: database, seal: seal), clock: clock)
        return JWTAccessTokens(issuer: "https://id.example/", ring: ring) { user, _ in user.description }
    }
}
