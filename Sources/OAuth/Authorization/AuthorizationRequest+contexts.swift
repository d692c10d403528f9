extension AuthorizationRequest {
    /// Reads the `acr_values` of SPiD's clients: `password` asks a signed-in user for the password again, `otp-email`
    /// asks for a code by mail. SPiD's names for second factors (`otp`, `sms`, `eid-…`) are ignored, because no user
    /// has one here: `acr_values` is voluntary (OpenID Connect Core §3.1.2.1), and the ID token's `acr` and `amr` say
    /// how the user did sign in.
    mutating func takeSPiDContexts(_ text: String?) {
        let words = Set((text ?? "").split(separator: " "))
        if Self.asksForPassword(text) { prompt.insert(.login) }
        wantsMailedCode = words.contains("otp-email")
    }

    /// Whether `acr_values` of a SPiD-compatible client ask for the password again, as `prompt=login` does.
    package static func asksForPassword(_ text: String?) -> Bool {
        text?.split(separator: " ").contains("password") ?? false
    }
}
