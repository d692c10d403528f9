import JOSE
import JSON

/// JWTs of an issuer that are signed with one key, and told apart by their explicit type (RFC 8725 §3.11).
extension VerifiedJWT {
    /// Whether the token is meant to identify a user, and is no other kind of JWT. An access token shows its type
    /// (`at+jwt`, RFC 9068 §2.1). A logout token, which should show it too, and any other event have at least an
    /// `events` claim (Back-Channel Logout §2.4, RFC 8417 §2.2).
    var isIDToken: Bool { isOfNoOtherKind && claims["events"] == nil }

    /// Whether its type, if it has one, names no other kind of JWT.
    var isOfNoOtherKind: Bool { isTyped(asOneOf: ["jwt", "application/jwt"]) }
}
