import Cryptography
import JOSE
public import JSON
import Values

extension OpenIDSettings {
    /// The names of all settings.
    public static let names =
        [
            "response_types", "id_token_signed_response_alg", "id_token_lifetime", "id_token_scope_claims",
            "id_token_claims", "subject_type", "sector_identifier_uri", "userinfo_signed_response_alg",
            "request_object_signing_alg", "request_uris", "token_endpoint_auth_signing_alg", "require_issuer_audience",
            "jwks", "jwks_uri", "access_token_format", "resources", "default_max_age", "backchannel_logout_uri",
            "backchannel_logout_session_required",
        ] + informationNames

    /// The members in the names of registration, as they are stored and as administration shows them.
    public var members: [JSON.Member] {
        var keySet: JSON?
        var keyAddress: JSON?
        switch keys {
        case .none: break
        case .keySet(let set): keySet = try? JSON(stored: set.text)
        case .address(let text): keyAddress = .string(text)
        }
        let claims = claims.sorted { $0.key < $1.key }.map { JSON.Member($0.key, .string($0.value)) }
        let json = JSON.members([
            "response_types": .array(responseTypes.map { .string($0.description) }),
            "id_token_signed_response_alg": .string(idTokenAlgorithm.name),
            "id_token_lifetime": .integer(idTokenLifetime.seconds),
            "id_token_scope_claims": .bool(idTokenCarriesScope),
            "id_token_claims": claims.isEmpty ? nil : .object(claims),
            "subject_type": .string(subjectType.name),
            "sector_identifier_uri": sectorIdentifierURI.map { .string($0) },
            "userinfo_signed_response_alg": userinfoAlgorithm.map { .string($0.rawValue) },
            "request_object_signing_alg": requestObjectAlgorithm.map { .string($0.rawValue) },
            "request_uris": requestURIs.isEmpty ? nil : .array(requestURIs.map { .string($0) }),
            "token_endpoint_auth_signing_alg": authenticationAlgorithm.map { .string($0.rawValue) },
            "require_issuer_audience": addressesIssuer ? true : nil,
            "jwks": keySet,
            "jwks_uri": keyAddress,
            "access_token_format": .string(accessTokenFormat.rawValue),
            "resources": resources.isEmpty ? nil : .array(resources.map { .string($0) }),
            "default_max_age": defaultMaxAge.map { .integer($0.seconds) },
            "backchannel_logout_uri": backChannelLogoutURI.map { .string($0) },
            "backchannel_logout_session_required": backChannelLogoutURI == nil ? nil : .bool(sendsSessionID),
        ])
        return (json.members ?? []) + information
    }
}
