import Cryptography
import JOSE
import JSON
import Storage
import TestSupport
import Testing
import Values

/// Facebook, with a button of Loom whose sign-ins are good at every merchant.
struct ModelFacebook: Sendable {
    let graph: ProviderStandIn
    let world: World
    /// The id of the issuer.
    let issuer: String

    init(_ graph: ProviderStandIn, _ world: World) async throws {
        self.graph = graph
        self.world = world
        let made = try await World.make(
            world.server, world.admin, "issuers",
            [
                "merchant_id": .string(world.merchant), "provider": "facebook",
                "audiences": [.string(ProviderStandIn.facebookApp)],
                "client_id": .string(ProviderStandIn.facebookApp),
                "app_secret": .string(ProviderStandIn.facebookSecret),
                "jwks": ["keys": [JSONWebKey(IssuerHost.rsa).json]],
            ])
        try #require(made.status == 201 && made.json["signs_in_everywhere"] == true, "\(made)")
        issuer = try made.require("id")
    }

    /// Links the user once to a subject of the same number, and makes that subject sign in next.
    func knows(_ user: ModelUser) async throws {
        graph.give(
            facebook: user.id,
            ProviderStandIn.Token(
                app: ProviderStandIn.facebookApp, subject: user.id, claims: ["name": "Kari Nordmann"]))
        graph.answer("/facebook/oauth/access_token", ["access_token": .string(user.id), "token_type": "bearer"])
        let number = try #require(Int64(user.id))
        try await world.server.database.write { [issuer] db in
            _ = try db.execute(
                """
                INSERT INTO issuer_subjects (issuer_id, subject, user_id, is_confined, created_at)
                VALUES (\(issuer), \(user.id), \(number), 0, 1) ON CONFLICT (issuer_id, subject) DO NOTHING
                """)
        }
    }

    func idToken(of user: ModelUser, nonce: String) -> String {
        let now = world.server.clock.now.seconds
        return CompactJWS.sign(
            [
                "iss": "https://www.facebook.com", "sub": .string(user.id),
                "aud": .string(ProviderStandIn.facebookApp), "iat": .integer(now), "exp": .integer(now + 3600),
                "nonce": .string(nonce), "jti": .string(Base64URL.encode(SystemRandom().bytes(8))),
            ], type: "JWT", key: IssuerHost.rsa, keyID: JSONWebKey(IssuerHost.rsa).keyID)
    }
}
