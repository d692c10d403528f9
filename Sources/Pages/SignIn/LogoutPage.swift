/// Asks whether to sign out, since a link alone must not do that. Posts `form_token` and `fields` to `action`.
public struct LogoutPage: PageContents {
    let account: String
    let action: String
    let formToken: String
    let leaving: String?
    let fields: [HiddenField]
    let unregistered: String?

    /// - Parameters: `leaving` is the only application that the user signs out of; nil for the whole browser.
    ///   `unregistered` describes an address to return to that the application has not registered.
    public init(
        account: String, action: String, formToken: String, leaving: String? = nil, fields: [HiddenField] = [],
        unregistered: String? = nil
    ) {
        self.unregistered = unregistered
        self.leaving = leaving
        self.account = account
        self.action = action
        self.formToken = formToken
        self.fields = fields
    }
}

/// Says that the user is signed out, of the browser or of one application.
public struct SignedOutPage: PageContents {
    let leaving: String?
    let unregistered: String?

    /// - Parameters: `leaving` is the only application; nil for the browser. `unregistered` describes an address to
    ///   return to that the application has not registered.
    public init(leaving: String? = nil, unregistered: String? = nil) {
        self.leaving = leaving
        self.unregistered = unregistered
    }
}

/// Asks before a sign-in that was not requested in this browser, in place of another user or of none.
///
/// Posts `form_token` and `decision`, which is `allow` (continue as the other) or `deny` (stay), to `action`.
public struct SwitchAccountPage: PageContents {
    let current: String?
    let other: String
    let action: String
    let formToken: String

    /// - Parameter current: the signed-in user; nil if there is none.
    public init(current: String?, other: String, action: String, formToken: String) {
        self.current = current
        self.other = other
        self.action = action
        self.formToken = formToken
    }
}
