public import Directory

/// The authentication context class references of this server: how a user signed in (OpenID Connect Core §2, `acr`).
public enum AuthenticationContext {
    public static let all = ["urn:spindle:password", "urn:spindle:mail", "urn:spindle:issuer"]

    /// The context of a sign-in by text message, which only apps' own forms have: a request cannot ask for it.
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

    /// The name that RFC 8176 has for `method`; nil of a sign-in at another issuer, for which it has none.
    public static func reference(_ method: SignIn.Method) -> String? { method == .issuer ? nil : method.rawValue }
}
