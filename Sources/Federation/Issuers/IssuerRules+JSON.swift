import JSON
import Values

/// The names of the rules in the admin API and in their column.
extension IssuerRules {
    /// Reads the column of rules, which contains only members of the admin API.
    init(stored text: String, over base: IssuerRules) throws(JSONFault) {
        guard let json = try? JSON(stored: text) else { throw JSONFault("rules", "JSON") }
        try self.init(try JSONMembers(json), over: base)
    }

    /// Reads the rules in `members`, over `base`.
    init(_ members: JSONMembers, over base: IssuerRules) throws(JSONFault) {
        self.init(
            nonce: try Self.choice(members, "nonce") ?? base.nonce,
            nonceTransform: try Self.choice(members, "nonce_transform") ?? base.nonceTransform,
            authorizedParties: try Self.parties(members) ?? base.authorizedParties,
            longestAge: try Self.age(members, base),
            linksByEmail: try members.flag("link_by_email") ?? base.linksByEmail,
            authoritativeDomains: try Self.domains(members) ?? base.authoritativeDomains)
    }

    private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ members: JSONMembers, _ name: String
    ) throws(JSONFault) -> Choice? {
        guard let text = try members.text(name) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            throw JSONFault(name, "one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return choice
    }

    /// Null removes the limit.
    private static func age(_ members: JSONMembers, _ base: IssuerRules) throws(JSONFault) -> Duration? {
        try members.seconds("max_age", within: 1...86400) ?? (members.has("max_age") ? nil : base.longestAge)
    }

    private static func parties(_ members: JSONMembers) throws(JSONFault) -> [String]? {
        guard let list = try members.list("authorized_parties") else { return nil }
        guard list.allSatisfy({ (1...1000).contains($0.utf8.count) && !$0.utf8.contains { $0 < 0x20 } }) else {
            throw JSONFault("authorized_parties", "strings of 1 to 1000 bytes without control characters")
        }
        return list
    }

    /// In ASCII and lower case, like stored addresses.
    private static func domains(_ members: JSONMembers) throws(JSONFault) -> [String]? {
        guard let list = try members.list("authoritative_domains") else { return nil }
        let domains = list.compactMap { DomainName.ascii($0)?.lowercased() }
        guard domains.count == list.count, domains.allSatisfy({ !$0.isEmpty && !$0.contains("@") }) else {
            throw JSONFault("authoritative_domains", "domain names, as after the @ of an address")
        }
        return domains
    }

    /// Each rule by its name.
    var members: [JSON.Member] {
        JSON.members([
            "nonce": .string(nonce.rawValue),
            "nonce_transform": .string(nonceTransform.rawValue),
            "authorized_parties": .array(authorizedParties.map { .string($0) }),
            "max_age": longestAge.map { .integer($0.seconds) },
            "link_by_email": .bool(linksByEmail),
            "authoritative_domains": .array(authoritativeDomains.map { .string($0) }),
        ]).members ?? []
    }
}
