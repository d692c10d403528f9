/// Asks the user what an application may have.
///
/// Posts `form_token`, `request`, `terms`, a `scope` for each one that is ticked or required, and `decision`, which is
/// `allow` or `deny`, to `action`.
public struct ConsentPage: PageContents {
    /// One requested scope. Those of OpenID Connect are described, others shown by their name.
    public struct Scope: Sendable {
        let name: String
        let isRequired: Bool

        /// - Parameter isRequired: the user cannot refuse this one alone.
        public init(name: String, isRequired: Bool = false) {
            self.name = name
            self.isRequired = isRequired
        }
    }

    /// Who is responsible for the application.
    public enum Maker: Sendable {
        case merchant(String)
        /// This server.
        case platform
        /// It registered itself.
        case selfRegistered
    }

    let clientName: String
    let merchantName: String
    let isSelfRegistered: Bool
    let scopes: [Scope]
    let action: String
    let formToken: String
    let request: String
    let account: String
    let switchTo: String
    let hasAccount: Bool
    let terms: TermsLink?
    let refusal: PageRefusal?

    /// - Parameters:
    ///   - account: the user's name or e-mail address.
    ///   - switchTo: the path where another user signs in to the same request.
    ///   - hasAccount: whether the user can open the account page, where it is taken back.
    ///   - terms: the application's terms that the user agrees to by allowing.
    public init(
        clientName: String, maker: Maker, scopes: [Scope], action: String, formToken: String, request: String,
        account: String, switchTo: String, hasAccount: Bool = true, terms: TermsLink? = nil,
        refusal: PageRefusal? = nil
    ) {
        self.clientName = clientName
        self.merchantName = if case .merchant(let name) = maker { name } else { "" }
        isSelfRegistered = if case .selfRegistered = maker { true } else { false }
        self.scopes = scopes
        self.action = action
        self.formToken = formToken
        self.request = request
        self.account = account
        self.switchTo = switchTo
        self.hasAccount = hasAccount
        self.terms = terms
        self.refusal = refusal
    }

    func words(_ texts: Texts) -> [String: Any] {
        var words: [String: Any] = ["scopes": scopes.map { $0.words(texts) }, "isOfMerchant": !merchantName.isEmpty]
        words["terms"] = terms?.words
        words["refusal"] = refusal?.words(texts)
        return words
    }
}

extension ConsentPage.Scope {
    private static let known = ["openid", "profile", "email", "phone", "address", "offline_access"]

    func words(_ texts: Texts) -> [String: Any] {
        var words: [String: Any] = ["name": name, "isRequired": isRequired]
        if let claim {
            words["claim"] = claim
            words["description"] = texts["scope.claim"]
        } else {
            words["description"] = texts[Self.known.contains(name) ? "scope.\(name)" : "scope.other"]
        }
        return words
    }

    /// The name of a single claim that is requested.
    private var claim: String? {
        let parts = name.split(separator: ":", maxSplits: 1)
        return parts.count == 2 && parts[0] == "claim" ? String(parts[1].replacing("_", with: " ")) : nil
    }

    /// Every text that `words` may ask for.
    static let keys = (known + ["claim", "other"]).map { "scope.\($0)" }
}
