import Text

/// Signs in any user, and lets a developer choose what the application gets. In development mode only.
///
/// Posts `form_token`, `continue`, `username`, `id_token_lifetime`, `refresh_token` (`1`), `error` and `outcome`, which
/// is `sign_in` or `error`, to `action`.
public struct DevelopmentSignInPage: PageContents {
    /// Why the last attempt failed.
    public enum Fault: String, CaseIterable, Sendable {
        case name, lifetime, disabled, taken
    }

    /// What a developer can choose for an application that waits for a response.
    public struct Choices: Sendable {
        let lifetime: String
        let givesRefreshToken: Bool
        let errors: [String]

        public init(lifetime: String, givesRefreshToken: Bool, errors: [String]) {
            self.lifetime = lifetime
            self.givesRefreshToken = givesRefreshToken
            self.errors = errors
        }
    }

    let action: String
    let formToken: String
    let continueTo: String
    let name: String
    let clientName: String?
    let choices: Choices?
    let fault: Fault?

    /// - Parameter choices: nil if no application waits.
    public init(
        action: String, formToken: String, continueTo: String, name: String, clientName: String?, choices: Choices?,
        fault: Fault? = nil
    ) {
        self.action = action
        self.formToken = formToken
        self.continueTo = continueTo
        self.name = name
        self.clientName = clientName
        self.choices = choices
        self.fault = fault
    }

    func words(_ texts: Texts) -> [String: Any] {
        var words: [String: Any] = ["onward": PercentEncoding.encode(continueTo)]
        if let fault { words["fault"] = ["text": texts["developmentSignIn.fault.\(fault)"], "\(fault)": true] }
        return words
    }

    /// Every text that `words` may ask for.
    static let keys = Fault.allCases.map { "developmentSignIn.fault.\($0)" }
}
