import Text

/// Asks for e-mail address and password.
///
/// Posts `form_token`, `continue`, `email`, `password` and `remember` (`1`) to `action`, or the same to `/login/code`.
public struct LoginPage: PageContents {
    /// The way back without signing in: a separate form, which posts `form_token`, `request` and `decision=cancel`.
    public struct Cancel: Sendable {
        let action: String
        let request: String

        public init(action: String, request: String) {
            self.action = action
            self.request = request
        }
    }

    let action: String
    let formToken: String
    let continueTo: String
    let email: String
    let isRemembered: Bool
    let clientName: String?
    let isConfirmation: Bool
    let wantsAnew: Bool
    let ways: [SignInWay]
    let cancel: Cancel?
    let refusal: PageRefusal?

    /// - Parameters: `email` is the value to fill in: empty, or what was typed before a refusal. `isRemembered`:
    ///   whether `remember` is ticked. `clientName` is the application that sent the user here. `isConfirmation`: the
    ///   signed-in user confirms who they are, and the address cannot change; posted as `confirm` (`1`), so that it is
    ///   kept after a refusal. `wantsAnew`: only a new sign-in will do; posted as `anew` (`1`), so that it is kept
    ///   after a refusal. `ways` are the other issuers that users may sign in with.
    public init(
        action: String, formToken: String, continueTo: String, email: String = "", isRemembered: Bool = false,
        clientName: String? = nil, isConfirmation: Bool = false, wantsAnew: Bool = false, ways: [SignInWay] = [],
        cancel: Cancel? = nil, refusal: PageRefusal? = nil
    ) {
        self.action = action
        self.formToken = formToken
        self.continueTo = continueTo
        self.email = email
        self.isRemembered = isRemembered
        self.clientName = clientName
        self.isConfirmation = isConfirmation
        self.wantsAnew = wantsAnew
        self.ways = ways
        self.cancel = cancel
        self.refusal = refusal
    }

    func words(_ texts: Texts) -> [String: Any] {
        var words: [String: Any] = [
            "onward": PercentEncoding.encode(continueTo), "ways": ways.map(\.words), "hasWays": !ways.isEmpty,
        ]
        words["refusal"] = refusal?.words(texts)
        return words
    }
}

/// Another issuer to sign in with: a button below the form.
public struct SignInWay: Sendable {
    let name: String
    let address: String

    /// - Parameters:
    ///   - name: what users call it.
    ///   - address: the path that leads there.
    public init(name: String, address: String) {
        self.name = name
        self.address = address
    }

    var words: [String: Any] { ["name": name, "address": address] }
}

/// Says who is signed in here. Its button posts `form_token` to `logoutAction`.
public struct SignedInPage: PageContents {
    let account: String
    let formToken: String
    let logoutAction: String
    let hasAccount: Bool

    /// - Parameters:
    ///   - account: the user's name or e-mail address.
    ///   - hasAccount: the session opens the account page.
    public init(account: String, formToken: String, logoutAction: String, hasAccount: Bool = true) {
        self.hasAccount = hasAccount
        self.account = account
        self.formToken = formToken
        self.logoutAction = logoutAction
    }
}
