import CommandLineTool
import JSON

/// The command-line options for members that only a SPiD-compatible client has.
struct SPiDMembers: CommandArguments {
    @Flag(deniable: "Whether authorization responses name the issuer (iss), which SPiD's SDKs do not expect.")
    var authorizationResponseISS: Bool?
    @Flag(deniable: "Whether its tokens of the implicit grant buy codes.")
    var exchangeFrontChannelTokens: Bool?
    @Option(
        name: "public-exchange-codes-from",
        help: """
            A client whose tokens buy codes for this one, which has no secret; may be repeated. The given ones \
            replace those it has. "" for none.
            """)
    var publicExchangeCodesFrom: [String] = []
    @Flag(deniable: "Whether it may redeem a code twice: the second time ends the first tokens.")
    var codesRedeemedTwice: Bool?
    @Option(
        name: "required-field",
        help: """
            A field that its apps should ask users for, such as name.given_name; may be repeated. The given ones \
            replace those it has. "" for none.
            """)
    var requiredFields: [String] = []
    @Option(
        name: "terms-summary",
        help: """
            A sentence about its newest terms, for its apps; may be repeated. The given ones replace those it has. "" \
            for none.
            """)
    var termsSummary: [String] = []
    @Option(
        name: "session-host",
        help: """
            A host of its site that leads here, for the session service; may be repeated. The given ones replace \
            those it has. "" for none.
            """)
    var sessionHosts: [String] = []

    var json: [JSON.Member] {
        let json: JSON = .members([
            "authorization_response_iss": authorizationResponseISS.map { .bool($0) },
            "exchange_front_channel_tokens": exchangeFrontChannelTokens.map { .bool($0) },
            "public_exchange_codes_from": ClientMembers.list(publicExchangeCodesFrom),
            "codes_redeemed_twice": codesRedeemedTwice.map { .bool($0) },
            "required_fields": ClientMembers.list(requiredFields),
            "terms_summary": ClientMembers.list(termsSummary),
            "session_hosts": ClientMembers.list(sessionHosts),
        ])
        return json.members ?? []
    }
}
