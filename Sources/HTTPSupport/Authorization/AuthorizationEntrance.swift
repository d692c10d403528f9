import OAuth

/// An address at which an authorization request may come in. SPiD had one for each page to begin with.
package struct AuthorizationEntrance: Sendable {
    package let path: String
    /// Who is not signed in is met with the sign-up page.
    package let beginsWithSignUp: Bool

    package init(_ path: String, beginsWithSignUp: Bool = false) {
        self.path = path
        self.beginsWithSignUp = beginsWithSignUp
    }

    package static let ofSPiD = [
        Self("/flow/login"), Self("/flow/auth"), Self("/flow/signin"), Self("/auth/login"),
        Self("/flow/signup", beginsWithSignUp: true), Self("/auth/signup", beginsWithSignUp: true),
    ]

    /// The request in our own words.
    package func form(_ form: Form) -> Form { Self.ofSPiD.contains { $0.path == path } ? form.withoutLocale : form }
}

extension Form {
    /// SPiD's flows name the language `locale`, as in `nb_NO`.
    package var withoutLocale: Form {
        guard self[Parameter.uiLocales.rawValue] == nil, let locale = self["locale"] else { return self }
        return Form(pairs: pairs.filter { $0.name != "locale" }).with(.uiLocales, locale)
    }
}
