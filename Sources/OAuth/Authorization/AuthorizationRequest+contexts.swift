extension AuthorizationRequest {
    /// Reads what SPiD's clients ask for by `acr_values`: `password` is the password once more, for a user who is
    /// signed in, too; `otp-email` is a code by mail. Their names for second factors (`otp`, `sms`, `eid-…`) ask for
    /// nothing, as nobody has one here: `acr_values` is voluntary (OpenID Connect Core §3.1.2.1), and `acr` and `amr`
    /// of the ID token say how the user did sign in.
    mutating func takeSPiDContexts(_ text: String?) {
        let words = Set((text ?? "").split(separator: " "))
        if Self.asksForPassword(text) { prompt.insert(.login) }
        wantsMailedCode = words.contains("otp-email")
    }

    /// Whether `acr_values` of a SPiD-compatible client ask for the password once more, as `prompt=login` does.
    package static func asksForPassword(_ text: String?) -> Bool {
        text?.split(separator: " ").contains("password") ?? false
    }
}
