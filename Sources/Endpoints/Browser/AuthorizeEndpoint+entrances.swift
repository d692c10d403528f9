import OAuth

extension AuthorizeEndpoint {
    /// An address at which an authorization request may come in. SPiD had one for each page to begin with.
    struct Entrance: Sendable {
        let path: String
        /// Who is not signed in is met with the sign-up page.
        let beginsWithSignUp: Bool

        init(_ path: String, beginsWithSignUp: Bool = false) {
            self.path = path
            self.beginsWithSignUp = beginsWithSignUp
        }

        static let ofSPiD = [
            Entrance("/flow/login"), Entrance("/flow/auth"), Entrance("/flow/signin"), Entrance("/auth/login"),
            Entrance("/flow/signup", beginsWithSignUp: true), Entrance("/auth/signup", beginsWithSignUp: true),
        ]

        /// The request in our own words.
        func form(_ form: Form) -> Form { Self.ofSPiD.contains { $0.path == path } ? form.withoutLocale : form }
    }
}

extension Form {
    /// SPiD's flows name the language `locale`, as in `nb_NO`.
    var withoutLocale: Form {
        guard self[Parameter.uiLocales.rawValue] == nil, let locale = self["locale"] else { return self }
        return Form(pairs: pairs.filter { $0.name != "locale" }).with(.uiLocales, locale)
    }
}
