package import Directory
package import OAuth
package import Values

/// An authorization request as it is carried from page to page: the pairs it came with, less what was done.
extension Form {
    /// What a link may hold, here and where sign-ins go on to.
    static let longestOnward = 8192

    /// The path that takes the request up again.
    package var onward: String { PagePath.authorize + "?" + pairs.encoded }

    package var fitsOnward: Bool { onward.utf8.count <= Self.longestOnward }

    /// The request with what its client is registered for where it says nothing itself: what changes on the way from page
    /// to page must stand there.
    package func complete(for client: Client) -> Form {
        guard self[Parameter.maxAge.rawValue] == nil, let age = client.openID.defaultMaxAge else { return self }
        return with(.maxAge, String(age.seconds))
    }

    /// The request after a new sign-in or account, which is what these prompts asked for. Nor does it ask again for a
    /// `max_age` that the way back itself could outlast: it gets a minute.
    package var signedIn: Form {
        let rest = without(Prompt.signingIn).pairs.filter { $0.name != Self.asked }
        let mark: [Pair] = self[Parameter.claims.rawValue] == nil ? [] : [(Self.asked, "1")]
        return Form(
            pairs: rest.map { pair in
                guard pair.name == Parameter.maxAge.rawValue, let seconds = Int64(pair.value) else { return pair }
                return (pair.name, String(max(seconds, 60)))
            } + mark)
    }

    /// Whether the request is on its way back from a sign-in. A client that says so itself has its answer the sooner.
    package var hasAsked: Bool { self[Self.asked] != nil }

    /// No parameter of OAuth's.
    private static let asked = "spindle_asked"

    /// The request with the prompts in `answered` taken out.
    package func without(_ answered: Set<Prompt>) -> Form {
        Form(
            pairs: pairs.compactMap { pair in
                guard pair.name == Parameter.prompt.rawValue else { return pair }
                let rest = pair.value.split(separator: " ").filter { word in
                    !answered.contains { $0.rawValue == word }
                }
                return rest.isEmpty ? nil : (pair.name, rest.joined(separator: " "))
            })
    }

    /// The request as somebody else takes it up, who signs in first and is none that was hinted at.
    package var bySomebodyElse: Form {
        let prompts = [self[Parameter.prompt.rawValue], Prompt.selectAccount.rawValue].compactMap(\.self)
        let hints = [Parameter.loginHint, .idTokenHint].map(\.rawValue)
        let rest = pairs.filter { !hints.contains($0.name) }
        return Form(pairs: rest).with(.prompt, prompts.joined(separator: " "))
    }

    /// The request for `scope` alone, whatever else it asked for and in whichever way.
    package func narrowed(to scope: Scope) -> Form {
        Form(pairs: pairs.filter { $0.name != Parameter.accessType.rawValue }).with(.scope, scope.description)
    }

    /// The request with `value` for its `parameter`.
    package func with(_ parameter: Parameter, _ value: String) -> Form {
        Form(pairs: pairs.filter { $0.name != parameter.rawValue } + [(parameter.rawValue, value)])
    }
}

extension Form {
    /// Whose answer a form is: no parameter of OAuth's, and whatever a client sends under this name is dropped.
    private static let person = "spindle_person"

    /// The request, marked with the person who is asked.
    package func marked(for user: UserID) -> String {
        (pairs.filter { $0.name != Self.person } + [(Self.person, user.description)]).encoded
    }

    /// A request without its mark, and the mark.
    package static func marked(_ text: String) throws(OAuthError) -> (request: Form, user: UserID?) {
        let form = try parse(text)
        return (Form(pairs: form.pairs.filter { $0.name != person }), form[person].flatMap { UserID($0) })
    }
}

extension [Form.Pair] {
    /// The pairs as a query.
    package var encoded: String {
        map { "\(Form.encode($0.name))=\(Form.encode($0.value))" }.joined(separator: "&")
    }
}
