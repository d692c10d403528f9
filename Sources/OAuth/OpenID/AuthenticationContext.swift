/// The authentication context class references that we know: how a person signed in (OpenID Connect Core §2, `acr`).
public enum AuthenticationContext {
    public static let all = ["urn:spindle:password", "urn:spindle:mail", "urn:spindle:issuer"]

    /// Of a sign-in by `method` (RFC 8176).
    public static func of(_ method: String) -> String {
        switch method {
        case "pwd": all[0]
        case "otp": all[1]
        default: all[2]
        }
    }
}
