package import Authentication
import Directory
package import JSON
import Values

/// A user's profile in the parameters of a call, by the names that SPiD's SDKs use.
package struct ProfileParameters: Sendable {
    /// The claims that the call sets, and those it removes.
    package let changes: UserChanges
    /// The user's language, as in `ui_locales`.
    package let locale: String?

    private static let claims: KeyValuePairs = [
        "displayName": "nickname", "preferredUsername": "preferred_username", "gender": "gender",
        "birthday": "birthdate", "phoneNumber": "phone_number", "locale": "locale", "photo": "picture",
        "url": "website",
    ]
    /// SDKs for phones use the claim's own name for this one.
    private static let phoneNumber = "phone_number"
    package static let names = claims.map(\.key) + [phoneNumber, "name", "addresses"]

    /// `profile` is the current one of the user that the call changes.
    package init(_ call: [String: String], over profile: JSON = .object([])) throws(SPiDRefusal) {
        var call = call
        call["locale"] = call["locale"]?.replacing("_", with: "-")
        locale = call["locale"]
        if let gender = call["gender"], !["male", "female", "undisclosed"].contains(gender) {
            throw .malformed("gender", "male, female or undisclosed")
        }
        if let birthday = call["birthday"], Timestamp(spid: birthday) == nil || birthday.utf8.count != 10 {
            throw .malformed("birthday", "a day as YYYY-MM-DD")
        }
        if let number = call.removeValue(forKey: Self.phoneNumber) {
            guard call.updateValue(number, forKey: "phoneNumber") ?? number == number else {
                throw .malformed(Self.phoneNumber, "the same as phoneNumber beside it")
            }
        }
        var members = try Self.name(call["name"], over: profile) + Self.address(call["addresses"])
        for (name, claim) in Self.claims {
            guard let text = call[name] else { continue }
            members.append(JSON.Member(claim, claim == "gender" && text == "undisclosed" ? .null : .string(text)))
        }
        do {
            changes = try UserChanges(.object(members))
        } catch {
            let name = Self.claims.first { $0.value == error.member }?.key
            throw .malformed(name ?? (error.member == PostalAddress.claim ? "addresses" : "name"), error.expected)
        }
    }

    private static let nameParts = [
        "givenName": "given_name", "given_name": "given_name", "familyName": "family_name",
        "family_name": "family_name", "formatted": "name",
    ]

    /// The claims of a name: backends and apps send it as JSON, with the members of SPiD's user object or of the
    /// claims. Any other text is the full name.
    private static func name(_ text: String?, over profile: JSON) throws(SPiDRefusal) -> [JSON.Member] {
        guard let text else { return [] }
        guard text.hasPrefix("{"), let members = (try? JSON(parsing: Array(text.utf8)))?.members else {
            return [.init("name", .string(text)), .init("given_name", .null), .init("family_name", .null)]
        }
        guard let parts = read(members, nameParts) else {
            throw .malformed("name", "a text, or givenName and familyName as texts")
        }
        guard !parts.isEmpty, !parts.contains(where: { $0.name == "name" }) else { return parts }
        // Clients of OpenID Connect show the full name, so it must change with its parts.
        let whole = ["given_name", "family_name"].compactMap { claim in
            (parts.first { $0.name == claim }?.value ?? profile[claim])?.string
        }
        return parts + [.init("name", .string(whole.joined(separator: " ")))]
    }

    private static let addressParts = [
        "formatted": "formatted", "streetAddress": "street_address", "street_address": "street_address",
        "postalCode": "postal_code", "postal_code": "postal_code", "locality": "locality", "region": "region",
        "country": "country", "type": "type",
    ]

    /// The claim `address`, of which a user has one, from SPiD's addresses by kind.
    private static func address(_ text: String?) throws(SPiDRefusal) -> [JSON.Member] {
        guard let text else { return [] }
        let json = try? JSON(parsing: Array(text.utf8))
        // PHP writes an empty map as a list.
        if json == .array([]) { return [] }
        guard let kinds = json?.members, kinds.count <= 1 else { throw malformedAddresses }
        guard let kind = kinds.first else { return [] }
        guard let members = kind.value.members, let parts = read(members, addressParts) else {
            throw malformedAddresses
        }
        let address = parts.filter { $0.name != "type" }
        return address.isEmpty ? [] : [.init(PostalAddress.claim, .object(address))]
    }

    private static let malformedAddresses = SPiDRefusal.malformed(
        "addresses",
        "the JSON of one address, {\"home\": {…}}, with formatted, streetAddress, postalCode, locality, region and "
            + "country as texts")

    /// The members that have a text, by the names in `known`. Nil when a member is unknown, has another value, or is
    /// repeated, so that nothing is lost silently.
    private static func read(_ members: [JSON.Member], _ known: [String: String]) -> [JSON.Member]? {
        var found: [JSON.Member] = []
        for member in members where member.value != .null && member.value != "" {
            guard let name = known[member.name], member.value.string != nil, !found.contains(where: { $0.name == name })
            else { return nil }
            found.append(JSON.Member(name, member.value))
        }
        return found
    }
}
