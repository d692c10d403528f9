import JOSE
import JSON
import TestSupport
import Testing

extension World {
    /// A JWT of this server, verified with its published keys.
    func published(_ jwt: String) async throws -> VerifiedJWT {
        let keys = try AssertionKeys(keySet: try await server.get("/oauth/jwks").body)
        return try await keys.verify(jwt, allowed: Set(SignatureAlgorithm.allCases.filter { !$0.isSymmetric }))
    }

    /// The claims of the ID token in a token response.
    func idToken(in answer: Answer) async throws -> JSON {
        try await published(try answer.require("id_token")).claims
    }

    /// A confidential client of Loom for OpenID, with `changes` over its registration.
    func relyingClient(_ changes: KeyValuePairs<String, JSON> = [:]) async throws -> Actor {
        let client = try await confidential(["scope": "openid profile email address phone"])
        guard !changes.isEmpty else { return client }
        try #require(
            try await change("clients", client.id, .object(changes.map { JSON.Member($0.key, $0.value) })).status == 200
        )
        return client
    }
}
