import Cryptography
import JOSE
import JSON
import OAuth
import Values

/// What a merchant requires of an issuer's token besides a valid signature.
public struct IssuerRules: Sendable, Equatable {
    /// How the `nonce` of an ID token is checked: it shows that the token was made for the app's own sign-in.
    public enum Nonce: String, Sendable, CaseIterable {
        /// The app sends it, and the token has it.
        case required
        /// If the app or the token has one, so must the other: a thief of the token does not know the app's nonce.
        case ifSent = "if_sent"
        /// Not checked.
        case none
    }

    /// How the app's nonce was transformed on its way into the token.
    public enum NonceTransform: String, Sendable, CaseIterable {
        case none
        /// SHA-256 in lowercase hexadecimal.
        case sha256
    }

    public var nonce: Nonce
    public var nonceTransform: NonceTransform
    /// The only parties that its tokens may have been issued to (`azp`); empty allows all.
    public var authorizedParties: [String]
    /// How long after it was issued (`iat`) a token is accepted.
    public var longestAge: Duration?
    /// Whether a user with an unknown subject is found by an address that the issuer is authoritative for.
    public var linksByEmail: Bool
    /// Mail domains whose addresses the issuer verifies.
    public var authoritativeDomains: [String]

    public init(
        nonce: Nonce = .ifSent, nonceTransform: NonceTransform = .none, authorizedParties: [String] = [],
        longestAge: Duration? = nil, linksByEmail: Bool = false, authoritativeDomains: [String] = []
    ) {
        self.nonce = nonce
        self.nonceTransform = nonceTransform
        self.authorizedParties = authorizedParties
        self.longestAge = longestAge
        self.linksByEmail = linksByEmail
        self.authoritativeDomains = authoritativeDomains
    }
}

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

extension IssuerRules {
    /// Checks `jwt` against the rules. `sent` is the nonce that the request sent along.
    func check(_ jwt: VerifiedJWT, nonce sent: String?, at now: Timestamp) throws {
        if !authorizedParties.isEmpty {
            guard let party = jwt.claims["azp"]?.string, authorizedParties.holds(party) else {
                throw OAuthError.assertionAuthorizedParty
            }
        }
        if let longestAge {
            guard let issuedAt = try jwt.issuedAt, now - issuedAt <= longestAge else {
                throw OAuthError.assertionTooOld(longestAge)
            }
        }
        try check(sent, against: jwt.claims["nonce"])
    }

    private func check(_ sent: String?, against told: JSON?) throws(OAuthError) {
        switch (nonce, sent, told) {
        case (.none, _, _), (.ifSent, nil, nil): return
        case (_, nil, _): throw .assertionNonceMissing
        case (_, let sent?, let told):
            guard let told = told?.string, constantTimeEqual(transformed(sent).utf8, told.utf8) else {
                throw .assertionNonce(nonceTransform)
            }
        }
    }

    private func transformed(_ nonce: String) -> String {
        switch nonceTransform {
        case .none: nonce
        case .sha256:
            Hexadecimal.encode(Digest.sha256(nonce.utf8))
        }
    }
}
