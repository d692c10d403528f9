/// The user's profile on the account page.
public struct Profile: Sendable {
    let email: String
    let emailVerified: Bool
    let hasPassword: Bool
    let name: String
    let givenName: String
    let familyName: String
    let phoneNumber: String
    let locale: String

    /// - Parameters:
    ///   - hasPassword: if not, the forms ask for none and the user signs in by mailed codes.
    ///   - locale: a tag such as `nb-NO`; empty if the user has not chosen.
    public init(
        email: String, emailVerified: Bool, hasPassword: Bool, name: String = "", givenName: String = "",
        familyName: String = "", phoneNumber: String = "", locale: String = ""
    ) {
        self.email = email
        self.emailVerified = emailVerified
        self.hasPassword = hasPassword
        self.name = name
        self.givenName = givenName
        self.familyName = familyName
        self.phoneNumber = phoneNumber
        self.locale = locale
    }

    /// What a template sees: the members, and the languages to choose from with the chosen one marked. A locale that is
    /// more specific than ours, or not among them, stays a choice, so saving the form does not change it.
    func words(_ texts: Texts) -> [String: Any] {
        let chosen = Language(tag: locale)
        var locales: [[String: Any]] = Language.allCases.map { language in
            [
                "code": language == chosen ? locale : language.rawValue, "name": texts["language.\(language.rawValue)"],
                "isChosen": language == chosen,
            ]
        }
        if chosen == nil, !locale.isEmpty { locales.append(["code": locale, "name": locale, "isChosen": true]) }
        return [
            "email": email, "hasEmail": !email.isEmpty, "emailVerified": emailVerified, "hasPassword": hasPassword,
            "name": name,
            "givenName": givenName, "familyName": familyName, "phoneNumber": phoneNumber, "locales": locales,
        ]
    }

    /// Every text that `words` may ask for.
    static let keys = Language.allCases.map { "language.\($0.rawValue)" }
}
