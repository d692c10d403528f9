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

    /// `deviceData` is accepted and ignored.
    package static let parameters = ProfileParameters.names + ["deviceData"]

    /// Reads the user of `email` from the other parameters of the call.
    package init(_ call: [String: String], email: EmailAddress) throws(SPiDRefusal) {
        self.email = email
        typedPassword = call["password"]
        let parameters = try ProfileParameters(call)
        profile = parameters.changes
        locale = parameters.locale
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
        case .common: "The password is too common."
        case .personal: "The password resembles a name or an address of the user or the service."
        }
    }
}
