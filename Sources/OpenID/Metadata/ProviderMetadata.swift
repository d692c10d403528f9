import Authentication
import Cryptography
public import Directory
import JOSE
public import JSON
public import Keys
import OAuth

/// Our metadata for clients (OpenID Connect Discovery §3, RFC 8414 §2). The bytes never vary, for clients that compare
/// them.
public struct ProviderMetadata: Sendable {
    private let issuer: String
    /// Scheme, host and port: the base of every endpoint.
    private let origin: String
    private let grants: [String]
    private let languages: [String]

    public init(issuer: String, origin: String, grants: [GrantType], languages: [String]) {
        self.issuer = issuer
        self.origin = origin
        self.grants = grants.map(\.name)
        self.languages = languages
    }

    public var json: JSON {
        JSON.object((addresses.members ?? []) + (capabilities.members ?? []) + (openID.members ?? []))
    }

    private var addresses: JSON {
        func at(_ path: String) -> JSON { .string(origin + path) }
        return .members([
            "issuer": .string(issuer), "authorization_endpoint": at("/oauth/authorize"),
            "token_endpoint": at("/oauth/token"), "userinfo_endpoint": at("/oauth/userinfo"),
            "jwks_uri": at("/oauth/jwks"), "registration_endpoint": at("/oauth/register"),
            "introspection_endpoint": at("/oauth/introspect"), "revocation_endpoint": at("/oauth/revoke"),
            "end_session_endpoint": at("/logout"),
        ])
    }

    private var capabilities: JSON {
        let methods = Client.Authentication.allCases.map(\.rawValue)
        return .members([
            "response_types_supported": Self.list(ResponseType.all.map(\.description)),
            "response_modes_supported": Self.list(ResponseMode.allCases.map(\.rawValue)),
            "grant_types_supported": Self.list(grants + ["implicit"]),
            "token_endpoint_auth_methods_supported": Self.list(methods),
            "token_endpoint_auth_signing_alg_values_supported": Self.list(Self.assertionAlgorithms),
            "introspection_endpoint_auth_methods_supported": Self.list(methods.filter { $0 != "none" }),
            "introspection_endpoint_auth_signing_alg_values_supported": Self.list(Self.assertionAlgorithms),
            "revocation_endpoint_auth_methods_supported": Self.list(methods),
            "revocation_endpoint_auth_signing_alg_values_supported": Self.list(Self.assertionAlgorithms),
            "code_challenge_methods_supported": Self.list(["S256"]),
            "authorization_response_iss_parameter_supported": true,
            "ui_locales_supported": Self.list(languages),
        ])
    }

    private var openID: JSON {
        let algorithms = Self.list(PrivateKey.Algorithm.allCases.map(\.rawValue))
        return .members([
            "scopes_supported": Self.list(Scope.standard.tokens),
            "subject_types_supported": Self.list(["public", "pairwise"]),
            "id_token_signing_alg_values_supported": Self.list(IDTokenAlgorithm.all.map(\.name)),
            "userinfo_signing_alg_values_supported": algorithms,
            "request_object_signing_alg_values_supported": Self.list(RequestObjects.algorithms.map(\.rawValue)),
            "display_values_supported": Self.list(["page"]), "claim_types_supported": Self.list(["normal"]),
            "claims_supported": Self.list(Self.claims), "acr_values_supported": Self.list(AuthenticationContext.all),
            "prompt_values_supported": Self.list(Prompt.allCases.map(\.rawValue)),
            "claims_parameter_supported": true, "request_parameter_supported": true,
            "request_uri_parameter_supported": true, "require_request_uri_registration": true,
            "backchannel_logout_supported": true, "backchannel_logout_session_supported": true,
        ])
    }

    /// `none` is not among them.
    private static let assertionAlgorithms = SignatureAlgorithm.allCases.filter { !$0.isSymmetric || $0 == .hs256 }.map(
        \.rawValue)

    private static let claims =
        ["sub", "iss", "aud", "exp", "iat", "auth_time", "nonce", "acr", "amr", "azp", "sid", "at_hash", "c_hash"]
        + User.claims.flatMap(\.value) + [
            "phone_number_verified", "email", "email_verified", "updated_at", "legacy_user_id",
        ]

    private static func list(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }
}

/// The public halves of our keys, as other servers fetch them (RFC 7517 §5).
public struct KeySet: Sendable {
    private let ring: KeyRing

    public init(ring: KeyRing) { self.ring = ring }

    /// The keys that sign, those that will, and those whose signatures may still be presented.
    public func json() async throws -> JSON {
        let keys = try await ring.published()
        // Some libraries only know RS256 keys, and only try the first key.
        let sorted = keys.filter { $0.algorithm == .rs256 } + keys.filter { $0.algorithm != .rs256 }
        return .members(["keys": .array(sorted.map(\.publicKey.json))])
    }
}
