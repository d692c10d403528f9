/// What a client wants of the person, whatever is known already (OpenID Connect Core §3.1.2.1, Prompt Create 1.0 §4).
public enum Prompt: String, Sendable, Hashable, CaseIterable {
    /// Show nothing: answer at once, or say what is in the way.
    case none
    case login
    case consent
    case selectAccount = "select_account"
    case create

    /// Those that a sign-in or a sign-up is the answer to.
    public static let signingIn: Set<Prompt> = [.login, .selectAccount, .create]

    /// Reads the parameter: known words, `none` alone.
    static func read(_ parameters: Parameters) throws(OAuthError) -> Set<Prompt> {
        let words = (parameters[.prompt] ?? "").split(separator: " ")
        let prompts = words.compactMap { Prompt(rawValue: String($0)) }
        guard prompts.count == words.count else {
            throw .malformed(.prompt, "words of " + allCases.map(\.rawValue).joined(separator: ", "))
        }
        guard !prompts.contains(.none) || Set(prompts).count == 1 else {
            throw .malformed(.prompt, "'none' stands alone")
        }
        return Set(prompts)
    }
}
