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
