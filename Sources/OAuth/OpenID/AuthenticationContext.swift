public import Directory

/// The authentication context class references of this server: how a user signed in (OpenID Connect Core §2, `acr`).
public enum AuthenticationContext {
    public static let all = ["urn:spindle:password", "urn:spindle:mail", "urn:spindle:issuer"]

    /// The context of a sign-in by text message, which only apps' own forms offer: a request cannot ask for it.
    private static let byText = "urn:spindle:sms"

    /// The context of a sign-in by `method`.
    public static func of(_ method: SignIn.Method) -> String {
        switch method {
        case .password: all[0]
        case .mail: all[1]
        case .text: byText
        case .issuer: all[2]
        }
    }

    /// The name of `method` in RFC 8176; nil for a sign-in at another issuer, which has no name there.
    public static func reference(_ method: SignIn.Method) -> String? { method == .issuer ? nil : method.rawValue }
}
