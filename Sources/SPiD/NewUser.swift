package import Authentication
package import Directory
import HTTP
import JSON
import OAuth
import Values

/// A new user, as a call of `signup` describes them.
package struct NewUser: Sendable {
    package let email: EmailAddress
    package let profile: UserChanges
    /// The language of mails, as in `ui_locales`.
    package let locale: String?
    private let typedPassword: String?

    /// SPiD's parameters and the claims they set. `addresses` and `deviceData` are taken and set none.
    private static let claims: KeyValuePairs = [
        "name": "name", "displayName": "nickname", "preferredUsername": "preferred_username", "gender": "gender",
        "birthday": "birthdate", "phoneNumber": "phone_number", "locale": "locale",
    ]
    package static let parameters = claims.map(\.key) + ["addresses", "deviceData"]

    /// Reads the user of `email` from the other parameters of the call.
    package init(_ call: [String: String], email: EmailAddress) throws {
        self.email = email
        typedPassword = call["password"]
        let locale = call["locale"]?.replacing("_", with: "-")
        self.locale = locale
        if let gender = call["gender"], !["male", "female", "undisclosed"].contains(gender) {
            throw SPiDRefusal.malformed("gender", "male, female or undisclosed")
        }
        if let birthday = call["birthday"], Timestamp(spid: birthday) == nil || birthday.utf8.count != 10 {
            throw SPiDRefusal.malformed("birthday", "a day as YYYY-MM-DD")
        }
        let parts = try Self.nameParts(call["name"])
        let members = Self.claims.compactMap { name, claim -> JSON.Member? in
            guard parts == nil || name != "name" else { return nil }
            guard let text = name == "locale" ? locale : call[name], text != "undisclosed" else { return nil }
            return JSON.Member(claim, .string(text))
        }
        do {
            profile = try UserChanges(.object(members + (parts ?? [])))
        } catch {
            let name = Self.claims.first { $0.value == error.member }?.key ?? "name"
            throw SPiDRefusal.malformed(name, error.expected)
        }
    }

    /// The claims of a name in parts: backends send it as JSON, as it is in SPiD's user object. Nil for any other text,
    /// which is the name itself.
    private static func nameParts(_ text: String?) throws(SPiDRefusal) -> [JSON.Member]? {
        guard let text, text.hasPrefix("{"), let json = try? JSON(parsing: Array(text.utf8)), json.members != nil
        else { return nil }
        let claims: KeyValuePairs = ["givenName": "given_name", "familyName": "family_name", "formatted": "name"]
        var members: [JSON.Member] = []
        for (part, claim) in claims {
            guard let value = json[part], value != .null, value != "" else { continue }
            guard value.string != nil else { throw .malformed("name", "a text, or givenName and familyName as texts") }
            members.append(JSON.Member(claim, value))
        }
        return members
    }

    /// The password, if the call has one; throws if it is weak, or resembles the user's names, the address or
    /// `service`.
    package func password(not service: String?) throws(SPiDRefusal) -> Password? {
        guard let typedPassword else { return nil }
        do {
            return try Password(typedPassword, personal: [email.text, service ?? ""] + profile.names)
        } catch {
            throw SPiDRefusal(
                .conflict, fields: .members(["password": .string(error.spidText)]), reason: "weak_password")
        }
    }
}

extension PasswordFault {
    fileprivate var spidText: String {
        switch self {
        case .tooShort: "The password needs to contain at least 8 characters."
        case .tooLong: "The password may contain at most 128 characters."
        case .common: "The password is one of those that are guessed first."
        case .personal: "The password resembles a name or an address of the user or the service."
        }
    }
}
