package import Authentication
package import Directory
package import JSON
import OAuth
package import Values

/// A user as SPiD's API shows one. Members of SPiD that Spindle has no value for get SPiD's empty value.
package struct UserObject: Sendable {
    private let match: ConnectedUsers.Match
    private let now: Timestamp
    private let signedInAt: Timestamp?

    /// `signedInAt` is the sign-in behind a user's token. It replaces a last login that is too old to be known, because
    /// apps read a text there.
    package init(match: ConnectedUsers.Match, now: Timestamp, signedInAt: Timestamp? = nil) {
        self.match = match
        self.now = now
        self.signedInAt = signedInAt
    }

    private var user: User { match.user }

    /// For a third-party client: the user's ids and status, and the name if `scope` covers it.
    package func shortest(scope covers: (String) -> Bool) -> JSON {
        .object(status + (covers("profile") ? name + place : []))
    }

    /// For clients that the user has not used: nothing that could be used to contact the user.
    package func short(scope covers: (String) -> Bool = { _ in true }) -> JSON {
        .object(status + moments + (covers("profile") ? name + place : []))
    }

    /// For a client that the user has used: what `scope` covers, and the merchant's `clients` they have used, with the
    /// merchant's number.
    package func full(
        clients: [UsedClient], merchant: Int64?, scope covers: (String) -> Bool = { _ in true }
    ) -> JSON {
        .object(
            status + (covers("email") ? email : []) + (covers("profile") ? name + face + place : [])
                + (covers("phone") ? phone : []) + (covers("address") ? address : []) + moments + proofs
                + Self.connections(clients, merchant))
    }

    /// `accounts` and `merchants`: the clients that know the user, as far as the caller may see.
    private static func connections(_ clients: [UsedClient], _ merchant: Int64?) -> [JSON.Member] {
        let users = clients.map { client in
            JSON.Member(
                client.id.text,
                .members([
                    "id": .string(client.id.text), "accountName": .string(client.name),
                    "domain": .string(client.origin ?? ""),
                ]))
        }
        let merchants = clients.isEmpty ? [] : [merchant].compactMap(\.self)
        return [.init("accounts", .object(users)), .init("merchants", .array(merchants.map { .integer($0) }))]
    }

    /// SPiD had an older `id` beside `userId`. Here they are the same.
    private var status: [JSON.Member] {
        let status: Int64 = user.disabledAt != nil ? -2 : user.emailVerified ? 1 : 0
        return [
            .init("id", .string(user.id.description)), .init("userId", .string(user.id.description)),
            .init("uuid", .string(user.uuid)), .init("status", .integer(status)),
        ]
    }

    /// SPiD has the time at which the address was verified. Spindle only knows whether it is.
    private var email: [JSON.Member] {
        let entry = user.email.map { email in
            JSON.members([
                "value": .string(email), "type": "other", "primary": "true",
                // A text, as in SPiD. Many clients would read "false" as true, so it is left out instead.
                "verified": user.emailVerified ? "true" : nil,
            ])
        }
        return [
            .init("email", .string(user.email ?? "")), .init("emailVerified", .bool(user.emailVerified)),
            .init("emails", .array([entry].compactMap(\.self))),
        ]
    }

    private var name: [JSON.Member] {
        [
            .init("displayName", .string(user.displayedName)),
            .init(
                "name",
                .members([
                    "givenName": .string(claim("given_name")), "familyName": .string(claim("family_name")),
                    "formatted": .string(user.formattedName),
                ])),
            .init("gender", .string(user.gender)),
            .init("preferredUsername", .string(claim("preferred_username"))),
        ]
    }

    private var face: [JSON.Member] {
        let birthday = claim("birthdate")
        return [
            .init("birthday", .string(birthday.isEmpty ? "0000-00-00" : birthday)),
            .init("photo", .string(claim("picture"))), .init("url", .string(claim("website"))),
        ]
    }

    private var place: [JSON.Member] {
        [
            .init("utcOffset", .string(SPiDPlace.offset(of: claim("zoneinfo"), at: now))),
            .init("locale", .string(SPiDPlace.locale(of: claim("locale")))),
        ]
    }

    private var phone: [JSON.Member] {
        let number = claim("phone_number")
        let isVerified = user.isPhoneVerified
        let entry = JSON.members([
            "value": .string(number), "type": "other", "primary": "true", "verified": isVerified ? "true" : nil,
        ])
        return [
            .init("phoneNumber", .string(number)), .init("phoneNumberVerified", .bool(isVerified)),
            .init("phoneNumbers", .array(number.isEmpty ? [] : [entry])),
        ]
    }

    /// SPiD's addresses by kind. The claim `address` has no kind: it is shown as the home address.
    private var address: [JSON.Member] {
        let claim = user.profile["address"]
        let parts = [
            ("formatted", "formatted"), ("streetAddress", "street_address"), ("postalCode", "postal_code"),
            ("locality", "locality"), ("region", "region"), ("country", "country"),
        ].compactMap { name, part in (claim?[part]?.string).map { JSON.Member(name, .string($0)) } }
        let home: JSON = .object(parts + [.init("type", "home")])
        return [
            .init("addresses", .object(parts.isEmpty ? [] : [.init("home", home)])),
            .init("currentLocation", .array([])),
        ]
    }

    private var moments: [JSON.Member] {
        [
            .init("published", .string(user.createdAt.spidText)),
            .init("updated", .string(user.updatedAt.spidText)),
            .init("lastLoggedIn", Self.moment(match.lastLogin ?? signedInAt)),
        ]
    }

    private var proofs: [JSON.Member] {
        [
            .init("verified", .bool(user.emailVerified)), .init("passwordChanged", false),
            .init("lastAuthenticated", Self.moment(match.lastProof ?? signedInAt)),
        ]
    }

    /// SPiD writes "never" as false.
    private static func moment(_ moment: Timestamp?) -> JSON { moment.map { .string($0.spidText) } ?? false }

    private func claim(_ name: String) -> String { user.claim(name) }
}

/// Profile members that are shown differently from how they are stored.
extension User {
    /// A claim of the profile; empty when the user has none.
    func claim(_ name: String) -> String { profile[name]?.string ?? "" }

    var formattedName: String {
        guard claim("name").isEmpty else { return claim("name") }
        return [claim("given_name"), claim("family_name")].filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// The user's name on a page: the nickname, or else the name.
    package var displayedName: String { claim("nickname").isEmpty ? formattedName : claim("nickname") }

    var gender: String { ["male", "female"].contains(claim("gender")) ? claim("gender") : "undisclosed" }
}

extension UserID {
    /// Reads a user's number or uuid.
    package init?(spid text: String) {
        guard let id = UserID(text) ?? UserUUID(text)?.user else { return nil }
        self = id
    }
}

extension ConnectedUsers {
    /// The user whose number or uuid `text` is; an import may have kept another uuid than the computed one. The caller
    /// must still check that the client may know the user.
    package func id(spid text: String) async throws -> UserID? {
        if let id = UserID(spid: text) { return id }
        return UserUUID.hasForm(text) ? try await id(ofSubject: text.lowercased()) : nil
    }
}
