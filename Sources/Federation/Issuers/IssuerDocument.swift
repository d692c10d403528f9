import JSON
import Outbound

/// The members that we need of an issuer's discovery document (OpenID Connect Discovery §3).
public struct IssuerDocument: Sendable, Equatable {
    public let keysAddress: String
    /// Where users are sent to sign in.
    public let authorizationEndpoint: String?
    /// Where a code is redeemed.
    public let tokenEndpoint: String?
    public let userinfoEndpoint: String?
    /// How we may authenticate at the token endpoint; `client_secret_basic` when it does not say (§3).
    public let authenticationMethods: [String]
    /// The algorithms that it accepts for our client assertions; nil when it does not say.
    public let authenticationAlgorithms: [String]?
    /// Whether its authorization responses carry `iss` (RFC 9207 §3).
    public let namesItself: Bool

    /// Why a document is rejected; for the log.
    struct Fault: Error {
        let reason: String
    }

    /// Reads `bytes` as the document of `issuer`. `mayAsk` throws for an address that must not be requested.
    init(
        _ bytes: [UInt8], of issuer: String, mayAsk: (String) throws(OutboundError) -> Void
    ) throws(Fault) {
        guard let json = try? JSON(parsing: bytes), json.members != nil else {
            throw Fault(reason: "answered with no JSON object")
        }
        // Discovery §4.3, an exact match: another issuer's document would bring that issuer's keys.
        guard let name = json["issuer"]?.string, name.utf8.elementsEqual(issuer.utf8) else {
            throw Fault(reason: "the issuer in its document is another")
        }
        func address(_ member: String) throws(Fault) -> String? {
            guard let value = json[member], value != .null else { return nil }
            guard let text = value.string, (try? mayAsk(text)) != nil else {
                throw Fault(reason: "\(member) in its document is no address that may be asked")
            }
            return text
        }
        guard let keysAddress = try address("jwks_uri") else { throw Fault(reason: "its document has no jwks_uri") }
        self.keysAddress = keysAddress
        authorizationEndpoint = try address("authorization_endpoint")
        tokenEndpoint = try address("token_endpoint")
        userinfoEndpoint = try address("userinfo_endpoint")
        authenticationMethods = json["token_endpoint_auth_methods_supported"]?.strings ?? ["client_secret_basic"]
        authenticationAlgorithms = json["token_endpoint_auth_signing_alg_values_supported"]?.strings
        namesItself = json["authorization_response_iss_parameter_supported"]?.bool ?? false
    }
}
