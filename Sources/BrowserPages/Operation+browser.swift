import HTTP
import HTTPSupport
import JSON

/// The operations of pages and of their forms.
extension Operation {
    // Signing in
    static let showSignIn = page(
        "showSignIn", "show the page to sign in", ["continue", "confirm", "anew", "ui_locales"])
    static let signIn = form("signIn", "sign in with a password", ["email", "password", "continue"])
    static let askForSignInCode = form("askForSignInCode", "mail a code to sign in with", ["email", "continue"])
    static let showSignInCode = page("showSignInCode", "ask for the mailed code", ["verification", "ui_locales"])
    static let checkSignInCode = form("checkSignInCode", "sign in with a mailed code", ["verification", "code"])
    static let signInElsewhere = page("signInElsewhere", "send the user to sign in elsewhere", ["continue", "anew"])
    static let comeBack = page("comeBack", "take the answer of another issuer", ["code", "state", "error", "iss"])
    static let comeBackByForm = form("comeBackByForm", "take the answer of another issuer", ["code", "state", "error"])
    static let pickUser = form("pickUser", "choose who goes on", ["request", "decision", "session"])
    static let restoreUser = form(
        "restoreUser", "cancel the user's deletion", ["verification", "decision", "continue"])
    static let openSession = page("openSession", "open a session with a code of an app")
    static let confirmSession = form("confirmSession", "open that session after a question", ["decision"])

    // Signing up, verifying, resetting
    static let showSignUp = page("showSignUp", "show the page to sign up", ["continue", "ui_locales"])
    static let signUp = form("signUp", "sign up", ["email", "password", "name", "continue"])
    static let showSignUpCode = page("showSignUpCode", "ask for the mailed code", ["verification", "ui_locales"])
    static let checkSignUpCode = form("checkSignUpCode", "sign up with a mailed code", ["verification", "code"])
    static let showSignUpLink = page("showSignUpLink", "show the page of a mailed link")
    static let confirmSignUpLink = form("confirmSignUpLink", "sign up by a mailed link", ["password"])
    static let showAddressConfirmation = page("showAddressConfirmation", "show the page of a mailed link")
    static let confirmAddress = form("confirmAddress", "verify an address that an app signed up", ["password"])
    static let returnToApp = way(
        "returnToApp", "lead back to the app that signed a user up", ["client_id", "redirect_uri"])
    static let showVerification = page("showVerification", "show the page to verify an address", ["continue"])
    static let askForVerification = form("askForVerification", "mail a code to verify an address", ["continue"])
    static let showVerificationCode = page("showVerificationCode", "ask for the mailed code", ["verification"])
    static let checkVerificationCode = form("checkVerificationCode", "verify an address", ["verification", "code"])
    static let showForgottenPassword = page("showForgottenPassword", "show the page to ask for a link", ["continue"])
    static let askForReset = form("askForReset", "mail a link to set a password", ["email", "continue"])
    static let showReset = page("showReset", "show the page to set a password")
    static let resetPassword = form("resetPassword", "set a password by a mailed link", ["password"])

    // The account page
    static let showAccount = page("showAccount", "show the user's account page", ["done", "ui_locales"])
    static let changeProfile = form("changeProfile", "change the profile", ["name", "given_name", "family_name"])
    static let changePassword = form("changePassword", "change the password", ["current_password", "new_password"])
    static let changeAddress = form("changeAddress", "mail a code to a new address", ["email", "current_password"])
    static let showAddressCode = page("showAddressCode", "ask for the mailed code", ["verification"])
    static let checkAddressCode = form("checkAddressCode", "change the address", ["verification", "code"])
    static let endOwnSession = form("endOwnSession", "end one of the user's sessions", ["session"])
    static let endOtherSessions = form("endOtherSessions", "end all other sessions of the user")
    static let revokeApp = form("revokeApp", "take an app's access away", ["client"])
    static let connectIssuer = form("connectIssuer", "link an issuer", ["issuer"])
    static let removeLink = form("removeLink", "remove the link to an issuer", ["issuer"])
    static let showPhones = page("showPhones", "show the page of the phone number", ["done"])
    static let addPhone = form("addPhone", "send a code to a phone number", ["phone_number"])
    static let showPhoneCode = page("showPhoneCode", "ask for the code", ["verification"])
    static let checkPhoneCode = form("checkPhoneCode", "verify a phone number", ["verification", "code"])
    static let removePhone = form("removePhone", "remove the phone number")
    static let getOwnData = Operation(
        "getOwnData", "download all that is stored about the user", by: .browser,
        answers: [.init(.ok, .json(.document), "all of it"), .elsewhere])
    static let showDeletion = page("showDeletion", "show the page to delete the user")
    static let askForDeletion = form("askForDeletion", "delete the user after the grace", ["current_password"])

    // Signing out
    private static let signOutParameters = [
        "id_token_hint", "client_id", "post_logout_redirect_uri", "state", "ui_locales", "logout_scope", "returnTo",
        "redirect_uri", "oauth_token",
    ]
    static let signOut = page("signOut", "sign out (OpenID Connect RP-Initiated Logout)", signOutParameters)
    static let submitSignOut = form("submitSignOut", "sign out", signOutParameters)

    // SPiD's addresses
    static let leadToPassword = way("leadToPassword", "lead to the page for a forgotten password")
    static let leadToAccount = way("leadToAccount", "lead to the account page")
    static let leadToPhones = way("leadToPhones", "lead to the page of the phone number")

    // What pages need
    static let getAsset = Operation(
        "getAsset", "get the style or a script of the pages", by: .anyone,
        answers: [.init(.ok, .other("*/*"), "the style or script")])
    static let getBrand = Operation(
        "getBrand", "get the colours of a merchant", by: .anyone,
        answers: [.init(.ok, .other("text/css; charset=utf-8"), "the style")])
}

/// The operations of the authorization endpoint.
extension Operation {
    private static let authorizationParameters: KeyValuePairs<String, String> = [
        "client_id": "the client", "response_type": "`code`, or what the client registered",
        "redirect_uri": "one that the client registered", "scope": "words apart by blanks", "state": "comes back",
        "response_mode": "how the answer comes", "code_challenge": "RFC 7636", "code_challenge_method": "`S256`",
        "nonce": "comes back in the ID token", "prompt": "OpenID Connect Core §3.1.2.1",
        "max_age": "seconds since the user signed in", "login_hint": "the user's address",
        "id_token_hint": "an ID token of the user", "ui_locales": "languages", "acr_values": "as discovery says",
        "claims": "OpenID Connect Core §5.5", "request": "a request object (RFC 9101)",
        "request_uri": "where it is", "resource": "the audience (RFC 8707)",
    ]
    private static let answers: [Answer] = [
        .page, .found("the answer to the client, or the way to a page"), .elsewhere,
    ]

    static let authorize = Operation(
        "authorize", "ask for a code, or tokens (RFC 6749 §3.1)", by: .browser,
        parameters: authorizationParameters.map { .init($0.key, .text, $0.value) }, answers: answers)
    static let authorizeByForm = Operation(
        "authorizeByForm", "ask for a code, or tokens (RFC 6749 §3.1)", by: .browser,
        body: fields(authorizationParameters), answers: answers)
    static let decide = form("decide", "answer the question for consent", ["request", "decision"])
}

/// The operations that web pages of clients call, and those of development mode.
extension Operation {
    private static let call = ["client_id", "callback", "redirect_uri"]

    static let hasSession = script("hasSession", "learn of the browser's session", call)
    static let signOutByScript = script("signOutByScript", "sign out", call)
    static let acceptTermsByScript = script("acceptTermsByScript", "accept terms", call)
    static let hasProductByScript = script("hasProductByScript", "learn that a user has no product", call)
    static let hasProduct = script("hasProduct", "learn that a user has no product", ["client_id"], type: Body.json)
    static let hasAccess = script("hasAccess", "learn that a user has no product", ["client_id"], type: Body.json)
    static let getSession = script(
        "getSession", "learn of the browser's session", ["client_id", "client_sdrn", "redirect_uri"], type: Body.json)
    static let getUserContext = script("getUserContext", "learn who is signed in", ["client_id"], type: Body.json)
    static let getLoginStatus = way(
        "getLoginStatus", "learn whether a user is signed in, as a redirect", ["client_id", "redirect_uri"])
    static let renewSession = way(
        "renewSession", "get a session at a session host", ["client_sdrn", "redirect_uri", "host", "code", "browser"])
    static let handSessionOver = way("handSessionOver", "take the second step to a session host", ["host", "browser"])

    static let showDevelopmentHome = page("showDevelopmentHome", "show the clients and users of development mode")
    static let showDevelopmentSignIn = page("showDevelopmentSignIn", "show the page to sign in any user", ["continue"])
    static let signInForDevelopment = form("signInForDevelopment", "sign in any user", ["user", "outcome", "continue"])
    static let showDevelopmentAnswer = page("showDevelopmentAnswer", "redeem a code, and show the tokens", ["code"])
    static let takeDevelopmentAnswer = form("takeDevelopmentAnswer", "redeem a code, and show the tokens", ["code"])
    static let callForDevelopment = form("callForDevelopment", "use the tokens", ["trial", "call"])
    static let registerRedirectURI = form("registerRedirectURI", "register an address", ["redirect_uri", "continue"])
    static let showDevelopmentMails = page("showDevelopmentMails", "show the last mails")
    static let showDevelopmentRequests = page("showDevelopmentRequests", "show the last requests")
}
