import JSON
public import Values

/// Settings that SPiD let its clients choose, or that they are used to. Other clients have the defaults.
public struct SPiDSettings: Sendable, Equatable {
    /// Profile fields that a client's apps may have to ask users for, in the names of SPiD's API.
    public enum Field: String, Sendable, CaseIterable {
        case givenName = "name.given_name"
        case familyName = "name.family_name"
        case birthday
        case displayName = "display_name"
        case phoneNumber = "phone_number"
    }

    /// Whether authorization responses name the issuer (RFC 9207). SPiD's SDKs would leave it in the page's URL.
    public var authorizationResponseISS = false
    /// Whether its tokens of the implicit grant, which browsers saw in a URL, buy codes.
    public var exchangeFrontChannelTokens = false
    /// The clients whose tokens buy codes for this one, which has no secret to redeem them with. For an app whose
    /// earlier SDK used another client with a secret.
    public var publicExchangeCodesFrom: [Client.ID] = []
    /// Whether an authorization code may be redeemed a second time while it lives, which ends its first tokens. SPiD's
    /// SDK for Java redeems each code twice.
    public var codesRedeemedTwice = false
    /// The client's apps ask for these fields; no page of ours does.
    public var requiredFields: [Field] = []
    /// What is new in its terms, a sentence each, for its apps to show.
    public var termsSummary: [String] = []
    /// Hosts of its own site at which this server answers too, for browsers that block third-party cookies
    /// (docs/decisions/session-hosts.md). Written as browsers write them in `Host`.
    public var sessionHosts: [String] = []

    public init() {}
}

extension SPiDSettings {
    /// Reads `members` over `base`.
    init(_ members: JSONMembers, over base: SPiDSettings?) throws(JSONFault) {
        self = base ?? SPiDSettings()
        if let flag = try members.flag("authorization_response_iss") { authorizationResponseISS = flag }
        if let flag = try members.flag("exchange_front_channel_tokens") { exchangeFrontChannelTokens = flag }
        if let list = try members.list("public_exchange_codes_from", most: 10) {
            publicExchangeCodesFrom = try list.map(Self.client)
        }
        if let flag = try members.flag("codes_redeemed_twice") { codesRedeemedTwice = flag }
        if let list = try members.list("required_fields") { requiredFields = try Self.fields(list) }
        if let list = try members.list("terms_summary", most: 20) { termsSummary = try list.map(Self.sentence) }
        if let list = try members.list("session_hosts", most: 10) { sessionHosts = try list.map(Self.host) }
    }

    /// As administration shows them and as they are stored.
    var members: [JSON.Member] {
        let json: JSON = .members([
            "authorization_response_iss": .bool(authorizationResponseISS),
            "exchange_front_channel_tokens": .bool(exchangeFrontChannelTokens),
            "public_exchange_codes_from": .array(publicExchangeCodesFrom.map { .string($0.text) }),
            "codes_redeemed_twice": .bool(codesRedeemedTwice),
            "required_fields": .array(requiredFields.map { .string($0.rawValue) }),
            "terms_summary": .array(termsSummary.map { .string($0) }),
            "session_hosts": .array(sessionHosts.map { .string($0) }),
        ])
        return json.members ?? []
    }

    private static func client(_ text: String) throws(JSONFault) -> Client.ID {
        guard (1...100).contains(text.utf8.count) else {
            throw JSONFault("public_exchange_codes_from", "ids of clients")
        }
        return Client.ID(text)
    }

    private static func fields(_ list: [String]) throws(JSONFault) -> [Field] {
        let fields = list.compactMap(Field.init)
        guard fields.count == list.count else {
            throw JSONFault("required_fields", "of \(Field.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return Field.allCases.filter(fields.contains)
    }

    private static func sentence(_ text: String) throws(JSONFault) -> String {
        guard (1...300).contains(text.utf8.count), !text.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
            throw JSONFault("terms_summary", "texts of 1 to 300 bytes without control characters")
        }
        return text
    }

    /// A name with a dot, or this machine; with a port if it is not the default.
    private static func host(_ text: String) throws(JSONFault) -> String {
        let site = WebSite(of: "https://\(text)")
        guard text.utf8.count <= 260, WebOrigin.isOne("https://\(text)"), let host = site?.host,
            text == host || text == "\(host):\(site?.port ?? 0)", host == "localhost" || host.contains(".")
        else {
            throw JSONFault("session_hosts", "hosts as browsers write them, such as id.example.com")
        }
        return text
    }
}
