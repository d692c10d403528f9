/// What a client wants from the user, whatever is known already (OpenID Connect Core §3.1.2.1, Prompt Create 1.0 §4).
public enum Prompt: String, Sendable, Hashable, CaseIterable {
    /// Show no page: respond at once, or with an error that names the obstacle.
    case none
    case login
    case consent
    case selectAccount = "select_account"
    case create

    /// The values that a sign-in or a sign-up satisfies.
    public static let signingIn: Set<Prompt> = [.login, .selectAccount, .create]

    /// Reads the parameter: known values only, and `none` alone.
    static func read(_ parameters: Parameters) throws(OAuthError) -> Set<Prompt> {
        let words = (parameters[.prompt] ?? "").split(separator: " ")
        let prompts = words.compactMap { Prompt(rawValue: String($0)) }
        guard prompts.count == words.count else {
            throw .malformed(.prompt, "words of " + allCases.map(\.rawValue).joined(separator: ", "))
        }
        guard !prompts.contains(.none) || Set(prompts).count == 1 else {
            throw .malformed(.prompt, "'none' cannot be combined")
        }
        return Set(prompts)
    }
}
