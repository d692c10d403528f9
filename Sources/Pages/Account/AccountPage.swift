/// Everything that users can see and change about themselves: profile, address, password, sessions, apps, data.
///
/// Its forms post to paths below `/account`, each with `form_token`: see `account.html`.
public struct AccountPage: PageContents {
    /// What the last form did.
    public enum Notice: String, CaseIterable, Sendable {
        case profileSaved, emailChanged, emailVerified, passwordChanged, sessionEnded, otherSessionsEnded, appRevoked
        case linkRemoved, linkAdded, linkIsOnly
        case confirmed, deletionCancelled
    }

    /// The form that was refused.
    public enum Form: String, CaseIterable, Sendable {
        case profile, email, password
    }

    /// The way back to the application that the user came from.
    public struct Back: Sendable {
        let name: String
        let address: String

        public init(name: String, address: String) {
            self.name = name
            self.address = address
        }

        var words: [String: String] { ["name": name, "address": address] }
    }

    let account: Profile
    let formToken: String
    let returnQuery: String
    private let back: Back?
    let isOfApp: Bool
    let hasPhones: Bool
    let sessions: [SessionItem]
    let apps: [AppItem]
    let links: [LinkItem]
    let connectable: [ConnectableItem]
    let newEmail: String
    private let notice: Notice?
    private let refused: (form: Form, refusal: PageRefusal)?

    /// - Parameters: `account` is what is stored, or what was typed into a refused form. `returnQuery` is the end of
    ///   the forms' URLs, so that the way back is kept. `isOfApp`: an app signed its user in to this web view, which
    ///   shows only the profile. `hasPhones`: there is a page for a phone number that codes are sent to. `newEmail` is
    ///   the address that was typed into the refused form `email`.
    public init(
        account: Profile, formToken: String, back: Back? = nil, returnQuery: String = "", isOfApp: Bool = false,
        hasPhones: Bool = false, sessions: [SessionItem],
        apps: [AppItem], links: [LinkItem] = [],
        connectable: [ConnectableItem] = [],
        newEmail: String = "", notice: Notice? = nil, refusal: (form: Form, refusal: PageRefusal)? = nil
    ) {
        self.account = account
        self.formToken = formToken
        self.back = back
        self.isOfApp = isOfApp
        self.hasPhones = hasPhones
        self.returnQuery = returnQuery
        self.sessions = sessions
        self.apps = apps
        self.links = links
        self.connectable = connectable
        self.newEmail = newEmail
        self.notice = notice
        refused = refusal
    }

    func words(_ texts: Texts) -> [String: Any] {
        var words: [String: Any] = [
            "account": account.words(texts), "sessions": sessions.map { $0.words(texts) },
            "apps": apps.map { $0.words(texts) }, "links": links.map(\.words), "hasLinks": !links.isEmpty,
            "connectable": connectable.map(\.words), "hasConnectable": !connectable.isEmpty,
            "hasWays": !links.isEmpty || !connectable.isEmpty,
            "hasApps": !apps.isEmpty,
        ]
        if let back { words["back"] = back.words }
        if let notice { words["notice"] = texts["account.notice.\(notice)"] }
        if let refused { words["refused"] = [refused.form.rawValue: refused.refusal.words(texts)] }
        return words
    }

    /// Every text that `words` may ask for.
    static let keys = Notice.allCases.map { "account.notice.\($0)" } + SessionItem.keys + Profile.keys
}

/// An application that the user has allowed something.
public struct AppItem: Sendable {
    let client: String
    let name: String
    let merchantName: String
    let scopes: [ConsentPage.Scope]
    let since: String

    /// - Parameters:
    ///   - merchantName: the merchant that it belongs to; empty if there is none.
    ///   - since: in UTC, as `2026-11-21 10:58`.
    public init(client: String, name: String, merchantName: String, scopes: [ConsentPage.Scope], since: String) {
        self.client = client
        self.name = name
        self.merchantName = merchantName
        self.scopes = scopes
        self.since = since
    }

    func words(_ texts: Texts) -> [String: Any] {
        [
            "client": client, "name": name, "merchantName": merchantName, "isOfMerchant": !merchantName.isEmpty,
            "scopes": scopes.map { $0.words(texts) }, "since": since,
        ]
    }
}

/// An issuer that the user could link, to sign in with it.
public struct ConnectableItem: Sendable {
    let issuer: String
    let name: String

    /// - Parameters:
    ///   - issuer: our id of it.
    ///   - name: what users call it.
    public init(issuer: String, name: String) {
        self.issuer = issuer
        self.name = name
    }

    var words: [String: Any] { ["issuer": issuer, "name": name] }
}

/// An issuer that the user has linked, to sign in with it.
public struct LinkItem: Sendable {
    let issuer: String
    let subject: String
    let name: String
    let since: String

    /// - Parameters:
    ///   - issuer: our id of it.
    ///   - subject: its identifier of the user.
    ///   - name: what users call it.
    ///   - since: in UTC, as `2026-11-21 10:58`.
    public init(issuer: String, subject: String, name: String, since: String) {
        self.issuer = issuer
        self.subject = subject
        self.name = name
        self.since = since
    }

    var words: [String: Any] { ["issuer": issuer, "subject": subject, "name": name, "since": since] }
}

/// A browser in which the user is signed in.
public struct SessionItem: Sendable {
    let id: String
    let device: String?
    let address: String
    let signedInAt: String
    let seenAt: String
    let isCurrent: Bool
    let remembered: Bool

    /// - Parameters:
    ///   - device: such as `Firefox, Linux`; nil if the browser is not known.
    ///   - address: the network address that it was last seen at; empty if not known.
    ///   - signedInAt: in UTC, as `2026-11-21 10:58`; `seenAt` likewise.
    public init(
        id: String, device: String?, address: String, signedInAt: String, seenAt: String, isCurrent: Bool,
        remembered: Bool
    ) {
        self.id = id
        self.device = device
        self.address = address
        self.signedInAt = signedInAt
        self.seenAt = seenAt
        self.isCurrent = isCurrent
        self.remembered = remembered
    }

    func words(_ texts: Texts) -> [String: Any] {
        [
            "id": id, "device": device ?? texts["account.sessions.unknownDevice"], "hasAddress": !address.isEmpty,
            "address": address, "signedInAt": signedInAt, "seenAt": seenAt, "isCurrent": isCurrent,
            "remembered": remembered,
        ]
    }

    /// Every text that `words` may ask for.
    static let keys = ["account.sessions.unknownDevice"]
}

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
