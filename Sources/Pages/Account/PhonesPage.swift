/// The phone number that codes are sent to. Posts `form_token` and `phone_number` to `action`, and `form_token` to
/// `remove` below it.
public struct PhonesPage: PageContents {
    /// What the last form did.
    public enum Notice: String, CaseIterable, Sendable {
        case added, removed
    }

    /// Whether a number can be added.
    public enum Adding: Sendable {
        case possible
        /// The user's e-mail address must be verified first.
        case unverified
        /// This server sends no text messages.
        case unavailable
    }

    let action: String
    let formToken: String
    let phone: String?
    let account: String
    private let back: AccountPage.Back?
    let returnQuery: String
    let typed: String
    private let adding: Adding
    private let notice: Notice?
    let refusal: PageRefusal?

    /// - Parameters:
    ///   - phone: the verified number, if there is one.
    ///   - account: the path of the account page.
    ///   - back: the application that the user came from.
    ///   - returnQuery: what addresses of ours end with, so that the way back is there too.
    ///   - typed: the number that was typed into a refused form.
    public init(
        action: String, formToken: String, phone: String?, account: String, back: AccountPage.Back? = nil,
        returnQuery: String = "", adding: Adding, typed: String = "", notice: Notice? = nil,
        refusal: PageRefusal? = nil
    ) {
        self.action = action
        self.formToken = formToken
        self.phone = phone
        self.account = account
        self.back = back
        self.returnQuery = returnQuery
        self.adding = adding
        self.typed = typed
        self.notice = notice
        self.refusal = refusal
    }

    func words(_ texts: Texts) -> [String: Any] {
        var words: [String: Any] = [
            "canAdd": adding == .possible, "isUnverified": adding == .unverified,
            "isUnavailable": adding == .unavailable,
        ]
        if let back { words["back"] = back.words }
        if let notice { words["notice"] = texts["phones.notice.\(notice)"] }
        words["refusal"] = refusal?.words(texts)
        return words
    }

    /// Every text that `words` may ask for.
    static let keys = Notice.allCases.map { "phones.notice.\($0)" }
}
