import OAuth

/// A path that accepts authorization requests. SPiD had one for each first page.
package struct AuthorizationEntrance: Sendable {
    package let path: String
    /// A user who is not signed in gets the sign-up page first.
    package let beginsWithSignUp: Bool
    /// A signed-in user is asked whether to continue as that user.
    package let beginsWithPicker: Bool

    package init(_ path: String, beginsWithSignUp: Bool = false, beginsWithPicker: Bool = false) {
        self.path = path
        self.beginsWithPicker = beginsWithPicker
        self.beginsWithSignUp = beginsWithSignUp
    }

    package static let ofSPiD = [
        Self("/flow/login", beginsWithPicker: true), Self("/flow/signin", beginsWithPicker: true),
        Self("/flow/auth"), Self("/auth/login"),
        Self("/flow/signup", beginsWithSignUp: true), Self("/auth/signup", beginsWithSignUp: true),
    ]

    /// The request with our own parameter names.
    package func form(_ form: Form) -> Form {
        Self.ofSPiD.contains { $0.path == path } ? form.withoutLocale.withoutCancelURL : form
    }
}

extension Form {
    /// SPiD's SDK for Java uses another name for it.
    fileprivate var withoutCancelURL: Form {
        guard self[.cancelRedirectURI] == nil, let address = self["cancel_url"] else { return self }
        return Form(pairs: pairs.filter { $0.name != "cancel_url" }).with(.cancelRedirectURI, address)
    }

    /// Whether the query of `/login` or `/signup` is an authorization request, as SPiD's SDKs send it: with the
    /// client's id.
    package var isAuthorizationRequest: Bool { self[.clientID] != nil && self["continue"] == nil }

    /// SPiD's flows send the language as `locale`, as in `nb_NO`.
    package var withoutLocale: Form {
        guard self[Parameter.uiLocales.rawValue] == nil, let locale = self["locale"] else { return self }
        return Form(pairs: pairs.filter { $0.name != "locale" }).with(.uiLocales, locale)
    }
}
