public import Authentication
import Directory
import HTTP
import HTTPSupport
import JSON
import OAuth
import SPiD
public import Values

/// `users`: the users of a client, or of its whole merchant, without anything by which they could be reached.
public struct UserListResource: SPiDResource {
    private let people: ConnectedUsers
    private let clock: any WallClock

    public init(people: ConnectedUsers, clock: any WallClock) {
        self.people = people
        self.clock = clock
    }

    private static let keys = ["id", "userId", "uuid", "email", "emails", "query"]
    private static let states: [String: UserQuery.State] = [
        "verified": .verified, "unverified": .unverified, "blocked": .blocked,
    ]

    /// SPiD's searches that Spindle does not have. If one were ignored, the answer would have users not asked for.
    private static let others: Set<String> = [
        "emails_regex", "displayName", "givenName", "familyName", "fullName", "preferredUsername", "phoneNumber",
        "phoneNumbers", "gender", "birthday", "address_formatted", "address_postalCode", "address_country",
        "address_region", "address_locality", "address_streetAddress", "orderId", "paymentIdentifier",
    ]

    public var routes: [SPiDRoute] {
        [
            SPiDRoute(
                .get, "users", name: "List users", controller: "User.users", token: .client,
                optional: SPiDCall.listParameters + Self.keys, answer: list)
        ]
    }

    @Sendable private func list(_ call: SPiDCall) async throws -> SPiDAnswer {
        if let other = try call.request.query.pairs.first(where: { Self.others.contains($0.name) }) {
            throw SPiDRefusal(
                .badRequest, "Users are not searched by \(other.name): use \(Self.keys.joined(separator: ", "))",
                reason: "unknown_search")
        }
        let filters = try call.filters(known: Set(Self.states.keys).union(["merchant", "updated"]))
        var query = UserQuery()
        query.part = try call.part()
        query.span = try call.span()
        query.spansChanges = filters.contains("updated")
        let states = Self.states.filter { filters.contains($0.key) }.values
        if !states.isEmpty { query.states = Set(states) }
        guard let key = try Self.key(call) else { return .collection("User", [], offset: query.part.offset) }
        query.key = key.value
        if key.isAddress { try call.caller.requireFirstParty() }
        let isOwn = try call.caller.client.firstParty
        // A client that may not see an address must not find out by it either.
        let isWide = filters.contains("merchant") && !key.isAddress
        let found = try await people.list(query, for: try call.caller.clientScope(isWide: isWide))
        let now = clock.now
        return .collection(
            "User",
            // What each user allowed a third party's client is looked up one by one, at `user/{id}`.
            found.map { UserObject(person: $0, now: now).short(scope: { _ in isOwn }) }, offset: query.part.offset)
    }

    private struct Key {
        let value: UserQuery.Key?
        let isAddress: Bool
    }

    /// The user or the beginning of an address that is searched for; nil for a text that no user can have.
    private static func key(_ call: SPiDCall) throws -> Key? {
        let named = keys.filter { call[$0] != nil }
        guard named.count <= 1 else { throw SPiDRefusal.malformed(named[1], "left out beside \(named[0])") }
        guard let name = named.first, let text = call[name] else { return Key(value: nil, isAddress: false) }
        switch name {
        case "email", "emails":
            return EmailAddress(text).map { Key(value: .email($0), isAddress: true) }
        case "query":
            if let id = UserID(spid: text) { return Key(value: .user(id), isAddress: false) }
            let trimmed = text.filter { !$0.isWhitespace }.lowercased()
            return trimmed.isEmpty ? nil : Key(value: .emailPrefix(trimmed), isAddress: true)
        default:
            return UserID(spid: text).map { Key(value: .user($0), isAddress: false) }
        }
    }
}
