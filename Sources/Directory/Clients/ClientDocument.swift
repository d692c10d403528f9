public import JSON
import Values

extension Client {
    /// The client as administration shows it, in the names of RFC 7591, without its secrets.
    public var json: JSON {
        let own: JSON = .members([
            "client_id": .string(id.text),
            "merchant_id": merchant.map { .string($0.text) },
            "client_name": .string(name),
            "redirect_uris": .array(redirectURIs.map { .string($0.text) }),
            "grant_types": .array(grantTypes.map(\.name).sorted().map { .string($0) }),
            "scope": .string(scope.description),
            "token_endpoint_auth_method": .string(authentication.rawValue),
            "first_party": .bool(kind.isFirstParty),
            "spid_compatible": .bool(kind.isSPiDCompatible),
            "rotate_refresh_tokens": .bool(rotates),
            "access_token_lifetime": .integer(accessTokenLifetime.seconds),
            "refresh_token_lifetime": .integer(refreshTokenLifetime.seconds),
            "refresh_family_lifetime": refreshFamilyLifetime.json,
            "refresh_repeat_window": .integer(refreshRepeatWindow.seconds),
            "refresh_leeway": .integer(refreshLeeway.seconds),
            "require_pkce": .bool(!may(.omitChallenge) || requiresPKCE),
            "web_origins": .array(webPages.map { .string($0.text) }),
            "post_logout_redirect_uris": .array(postLogoutRedirectURIs.map { .string($0.text) }),
            "callback_uri": callbackURI.map { .string($0) },
            "require_verified_email": .bool(requiresVerifiedEmail),
            "signed_responses": .bool(signsResponses),
            "tos_uri": termsURI.map { .string($0) },
            "client_id_issued_at": .integer(createdAt.seconds),
            "updated_at": .integer(updatedAt.seconds),
            "disabled": .bool(disabledAt != nil),
        ])
        return .object((own.members ?? []) + (may(.haveSPiDSettings) ? spid.members : []) + openID.members)
    }
}

extension Merchant {
    /// The merchant as administration shows it.
    public var json: JSON {
        .members([
            "id": .string(id.text),
            "number": number.map { .integer($0) },
            "name": .string(name),
            "logout_reaches_backends": .bool(logoutReachesBackends),
            "skip_introduction": .bool(skipsIntroduction),
            "logo_uri": logoURI.map { .string($0) },
            "accent_color": accentColor.map { .string($0) },
            "events_uri": eventsURI.map { .string($0) },
            "mail_templates": mailTexts?.json,
            "created_at": .integer(createdAt.seconds),
            "updated_at": .integer(updatedAt.seconds),
            "disabled": .bool(disabledAt != nil),
        ])
    }
}

extension Clients.Registered {
    /// The only document that shows the secrets.
    public var json: JSON {
        guard case .object(var members) = client.json else { return .null }
        if let secret {
            members.insert(.init("client_secret", .string(secret.value)), at: 1)
            // RFC 7591 §3.2.1: required beside a secret; 0 is never.
            members.insert(.init("client_secret_expires_at", .integer(0)), at: 2)
        }
        members.append(.init("sign_secret", .string(signSecret.value)))
        return .object(members)
    }
}
