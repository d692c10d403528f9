import CommandLineTool
import JSON

/// The members of a client on the command line, in the names of RFC 7591.
struct ClientMembers: CommandArguments {
    @Option(help: "Its name.", sets: "client_name") var name: String?
    @Option(
        name: "redirect-uri",
        help: "A redirect URI; may be repeated, and replaces those it has.", sets: "redirect_uris")
    var redirectURIs: [String] = []
    @Option(
        name: "grant-type", help: "A grant type it may use; may be repeated, and replaces those it has.")
    var grantTypes: [String] = []
    @Option(
        help: "The scope tokens it may have, separated by spaces. For a new one with authorization_code by default "
            + "openid profile email.")
    var scope: String?
    @Flag(deniable: "Whether it is the merchant's own: no page asks for consent.")
    var firstParty: Bool?
    @Flag(deniable: "Whether it gets SPiD's answers. --no-spid-compatible deletes its settings for SPiD.")
    var spidCompatible: Bool?
    @Option(
        help: "Seconds that its access tokens live, 10 to 31536000; to 86400 where it can renew them.")
    var accessTokenLifetime: Int64?
    @Option(
        name: "web-origin",
        help: """
            An origin of its web pages, which may call this server; may be repeated, and replaces those it has. "" for \
            none.
            """)
    var webOrigins: [String] = []
    @Option(
        name: "post-logout-redirect-uri",
        help: """
            A URI that a logout may return to; may be repeated, and replaces those it has. "" for none.
            """, sets: "post_logout_redirect_uris")
    var postLogoutRedirectURIs: [String] = []
    @OptionGroup var settings: ClientSettingOptions
    @OptionGroup(topic: "client-settings") var rare: RareClientMembers

    /// The document, with `more` members.
    func json(besides more: [JSON.Member] = []) throws -> JSON {
        let own: JSON = .members([
            "client_name": name.map { .string($0) },
            "redirect_uris": redirectURIs.isEmpty ? nil : .array(redirectURIs.map { .string($0) }),
            "grant_types": grantTypes.isEmpty ? nil : .array(grantTypes.map { .string($0) }),
            "scope": scope.map { .string($0) },
            "first_party": firstParty.map { .bool($0) },
            "spid_compatible": spidCompatible.map { .bool($0) },
            "access_token_lifetime": accessTokenLifetime.map { .integer($0) },
            "web_origins": Self.list(webOrigins),
            "post_logout_redirect_uris": Self.list(postLogoutRedirectURIs),
        ])
        let given = (own.members ?? []) + rare.json + more
        return .object(given + (try settings.members(besides: given)))
    }

    /// Nil when the option was not given. A single empty text gives an empty list.
    static func list(_ texts: [String]) -> JSON? {
        texts.isEmpty ? nil : .array(texts.filter { !$0.isEmpty }.map { .string($0) })
    }
}

/// The options for members that most clients leave as they are. The help leaves them to a topic.
struct RareClientMembers: CommandArguments {
    @Flag(deniable: "Whether it gets a new refresh token at each use. A client without a secret always does.")
    var rotateRefreshTokens: Bool?
    @Flag(deniable: "Whether its authorization requests need PKCE, or a nonce with openid.")
    var requirePKCE: Bool?
    @Option(help: "Seconds that its refresh tokens live, 60 to 31536000.") var refreshTokenLifetime: Int64?
    @Option(help: "Seconds that the refresh tokens of one grant live together, 60 to 315360000, or while_used.")
    var refreshFamilyLifetime: String?
    @Option(
        help: """
            Seconds in which tabs of a browser app may refresh with the same token, 0 to 60; above 0 only for a \
            client without a secret whose redirect URIs are all https.
            """)
    var refreshLeeway: Int64?
    @Option(name: "callback-uri", help: "The URL to call when a user changes, signs out or is deleted; \"\" for none.")
    var callbackURI: String?
    @Flag(deniable: "Whether its users must have a verified address.")
    var requireVerifiedEmail: Bool?
    @Flag(deniable: "Whether SPiD's API signs its responses to the client.") var signedResponses: Bool?
    @Option(name: "tos-uri", help: "The URL of its terms; \"\" for none.") var tosURI: String?
    @OptionGroup var spid: SPiDMembers

    var json: [JSON.Member] {
        let own: JSON = .members([
            "rotate_refresh_tokens": rotateRefreshTokens.map { .bool($0) },
            "require_pkce": requirePKCE.map { .bool($0) },
            "refresh_token_lifetime": refreshTokenLifetime.map { .integer($0) },
            "refresh_family_lifetime": refreshFamilyLifetime.map { Int64($0).map { .integer($0) } ?? .string($0) },
            "refresh_leeway": refreshLeeway.map { .integer($0) },
            "callback_uri": callbackURI.map { $0.isEmpty ? .null : .string($0) },
            "require_verified_email": requireVerifiedEmail.map { .bool($0) },
            "signed_responses": signedResponses.map { .bool($0) },
            "tos_uri": tosURI.map { $0.isEmpty ? .null : .string($0) },
        ])
        return (own.members ?? []) + spid.json
    }
}
