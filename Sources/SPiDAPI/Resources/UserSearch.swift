import Authentication
import Directory
import HTTP
import HTTPSupport
import OAuth
import SPiD
import Values

/// Which users a call of `users` or `search/users` asks for.
struct UserSearch: Sendable {
    private(set) var query = UserQuery()
    private(set) var terms: [ProfileTerm] = []
    /// Whether it finds users by their address.
    private(set) var isByAddress = false
    /// Whether all clients of the merchant are meant.
    private var isOfMerchant = false
    /// Whether the search cannot match any user.
    private(set) var isImpossible = false

    private static let keys = ["id", "userId", "uuid", "email", "emails", "query"]
    static let parameters = keys + ProfileTerm.all + ["status", "clientId"]
    private static let filters: [String: UserQuery.State] = [
        "verified": .verified, "unverified": .unverified, "blocked": .blocked,
    ]
    /// SPiD's searches that Spindle does not have. Ignoring one would return users that were not asked for.
    private static let others: Set<String> = ["emails_regex", "orderId", "paymentIdentifier"]

    /// Whether users are searched for, rather than listed.
    var isSearch: Bool { query.key != nil || !terms.isEmpty || isImpossible }
    /// Whether users of all the merchant's clients are included.
    var isWide: Bool { isOfMerchant && !isByAddress && terms.isEmpty }

    init(_ call: SPiDCall, among connectedUsers: ConnectedUsers) async throws {
        if let other = try call.request.query.pairs.first(where: { Self.others.contains($0.name) }) {
            throw SPiDRefusal(
                .badRequest, "Users are not searched by \(other.name): use \(Self.parameters.joined(separator: ", "))",
                reason: "unknown_search")
        }
        let filters = try call.filters(known: Set(Self.filters.keys).union(["merchant", "updated"]))
        isOfMerchant = filters.contains("merchant")
        query.part = try call.part()
        query.span = try call.span()
        query.spansChanges = filters.contains("updated")
        let states = Self.filters.filter { filters.contains($0.key) }.values
        if !states.isEmpty { query.states = Set(states) }
        if let status = call["status"] { query.states = try Self.states(status) }
        guard try call["clientId"] ?? call.caller.contextClient.id.text == call.caller.contextClient.id.text else {
            throw SPiDRefusal(.forbidden, "Wrong clientId", reason: "foreign_client")
        }
        terms = ProfileTerm.all.compactMap { name in call[name].flatMap { ProfileTerm(name, $0) } }
        try await readKey(call, among: connectedUsers)
        // A client that may not see a value must not find it out by searching, nor who uses the merchant's other apps.
        if isOfMerchant || isByAddress || !terms.isEmpty { try call.caller.requireFirstParty() }
    }

    /// SPiD's numbers for the states of a user. No user has a state that Spindle does not know.
    private static func states(_ text: String) throws(SPiDRefusal) -> Set<UserQuery.State> {
        guard let number = Int(text) else { throw .malformed("status", "a number, as a user has it") }
        return Set([UserQuery.State(rawValue: number)].compactMap(\.self))
    }

    /// The user, or the address prefix, that is searched for.
    private mutating func readKey(_ call: SPiDCall, among connectedUsers: ConnectedUsers) async throws {
        let path = call.path["query"]
        let named = (path == nil ? [] : ["the word in the path"]) + Self.keys.filter { call[$0] != nil }
        guard named.count <= 1 else { throw SPiDRefusal.malformed(named[1], "left out beside \(named[0])") }
        guard let name = named.first, let text = path ?? call[name] else { return }
        switch path == nil ? name : "query" {
        case "email", "emails":
            query.key = EmailAddress(text).map { .email($0) }
            isByAddress = query.key != nil
        case "query":
            // Before a uuid is looked up too: an import may have kept the uuid of a user that the client does not know.
            try call.caller.requireFirstParty()
            let trimmed = text.filter { !$0.isWhitespace }.lowercased()
            if let id = try await connectedUsers.id(spid: text) {
                query.key = .user(id)
            } else if !trimmed.isEmpty {
                query.key = .emailPrefix(trimmed)
                isByAddress = true
            }
        default: query.key = try await connectedUsers.id(spid: text).map { .user($0) }
        }
        isImpossible = query.key == nil
    }
}
