import Directory
import JOSE
import OAuth
import Values

// Every refusal of an assertion, in the order of RFC 7523 §3. The hint says what to fix, and reveals nothing about the
// issuers, keys or users of other merchants.
extension OAuthError {
    static func assertionWithoutMerchant(_ client: Client.ID) -> OAuthError {
        OAuthError(
            .unauthorizedClient, "client_without_merchant",
            "This client belongs to no merchant, so no issuer's assertions are accepted from it.",
            detail: "client=\(client)")
    }

    static let assertionOfUnknownIssuer = assertionRefused(
        "assertion_of_unknown_issuer",
        "its iss must be, letter by letter, the name of an issuer registered for this client's merchant.")
    static let assertionOfDisabledIssuer = assertionRefused(
        "assertion_of_disabled_issuer", "its issuer is disabled at the moment.")
    static func issuerKeysUnavailable(_ issuer: TrustedIssuer.ID, _ reason: String) -> OAuthError {
        OAuthError(
            .temporarilyUnavailable, "issuer_keys_unavailable",
            "The key set of the assertion's issuer cannot be read from its jwks_uri at the moment.",
            detail: "issuer=\(issuer) cause=\(reason)", retryAfter: PublishedDocument.refetchInterval)
    }
    static func issuerUnavailable(_ issuer: TrustedIssuer.ID, _ reason: String) -> OAuthError {
        OAuthError(
            .temporarilyUnavailable, "issuer_document_unavailable",
            "The issuer's metadata cannot be read from its discovery_url at the moment.",
            detail: "issuer=\(issuer) cause=\(reason)", retryAfter: PublishedDocument.refetchInterval)
    }

    static let assertionType = assertionRefused(
        "assertion_type", "it is another kind of token (its typ or events): send an ID token or an assertion.")
    static let assertionSubject = assertionRefused(
        "assertion_subject", "its sub must be the user's identifier, of 1 to 255 characters.")
    static func assertionAudience(_ ours: [String], others: Bool) -> OAuthError {
        let names = ours.joined(separator: " or ") + (others ? " or an audience registered for its issuer" : "")
        return assertionRefused("assertion_audience", "its aud must be \(names).")
    }
    static let assertionOtherAudience = assertionRefused(
        "assertion_other_audience",
        "its aud contains others too: register them as audiences of its issuer, or set its authorized_parties."
    )
    static let assertionExpiryMissing = assertionRefused(
        "assertion_expiry_missing", "it must have an exp, in seconds since 1970.")
    static let assertionExpired = assertionRefused("assertion_expired", "its exp has passed; ask for a new one.")
    static let assertionLivesTooLong = assertionRefused(
        "assertion_lives_too_long", "its exp must be within 24 hours from now.")
    static let assertionNotYetValid = assertionRefused(
        "assertion_not_yet_valid", "its nbf is in the future; check the issuer's clock.")
    static let assertionFromTheFuture = assertionRefused(
        "assertion_from_the_future", "its iat is in the future; check the issuer's clock.")
    static func assertionTooOld(_ age: Duration) -> OAuthError {
        assertionRefused(
            "assertion_too_old", "its iat must be at most \(age.seconds) seconds ago, as registered for its issuer.")
    }
    static let assertionAuthorizedParty = assertionRefused(
        "assertion_authorized_party", "its azp must be one of the authorized_parties registered for its issuer.")
    static let assertionNonceMissing = assertionRefused(
        "assertion_nonce_missing",
        "it has a nonce, or must have one: send the nonce that the app began the sign-in with.")
    static func assertionNonce(_ transform: IssuerRules.NonceTransform) -> OAuthError {
        let expected = transform == .sha256 ? "the SHA-256, in lowercase hexadecimal, of" : "the same as"
        return assertionRefused("assertion_nonce", "its nonce must be \(expected) the nonce of the request.")
    }
    static let assertionReplayed = assertionRefused(
        "assertion_replayed", "it, or another with its jti, was used before; each can be used once.")

    static let assertionOfUnknownUser = OAuthError(
        .invalidGrant, "unknown_user",
        "The assertion was refused: its sub is linked to no user, and its issuer is not set to create_users.",
        userFault: .unknown)
    static let assertionOfTakenAddress = OAuthError(
        .invalidGrant, "address_taken",
        "The assertion was refused: its sub is linked to no user, and another user has its email. That user "
            + "must sign in and link this issuer.", userFault: .unknown)
    static let assertionOfRemovedLink = OAuthError(
        .invalidGrant, "link_removed",
        "The assertion was refused: a user has removed its sub from their account here, and can sign in there "
            + "and connect it again.", userFault: .unknown)
    static let assertionOfDisabledAccount = assertionRefused(
        "assertion_of_disabled_account", "the user of its sub is disabled.")

    /// Why the signature was rejected, or a claim could not be read.
    static func assertion(_ rejection: JWTRejection, algorithms: Set<SignatureAlgorithm> = []) -> OAuthError {
        switch rejection {
        case .malformed:
            assertionRefused(
                "assertion_malformed",
                "it is not a signed JWT, three parts of base64url without padding and with dots between.")
        case .algorithmNotAllowed:
            assertionRefused(
                "assertion_algorithm",
                "its alg must be one registered for its issuer: "
                    + algorithms.map(\.rawValue).sorted().joined(separator: ", ") + ".")
        case .criticalExtension:
            assertionRefused(
                "assertion_critical_extension",
                "its header requires an extension (crit); none is "
                    + "supported.")
        case .unknownKey:
            assertionRefused(
                "assertion_key_unknown",
                "its issuer has no key with the kid of its header. A key just published may take ten seconds.")
        case .algorithmOfAnotherKey:
            assertionRefused(
                "assertion_algorithm_of_another_key", "its alg does not fit the key that its kid names.")
        case .tooManyKeys:
            assertionRefused(
                "assertion_key_not_named",
                "its header has no kid, or an ambiguous one, and more than four keys of its issuer match.")
        case .badSignature:
            assertionRefused("assertion_signature", "its signature does not verify with the issuer's registered key.")
        case .claim(let name):
            assertionRefused("assertion_claim", "its claim \(name) is of the wrong type.", "claim=\(name)")
        }
    }
}
