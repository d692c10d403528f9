/// The authentication context class references that we know: how a person signed in (OpenID Connect Core §2, `acr`).
public enum AuthenticationContext {
    public static let all = ["urn:spindle:password", "urn:spindle:mail", "urn:spindle:issuer"]

    /// How a sign-in by another issuer's word is called where methods are: none of RFC 8176.
    public static let byIssuer = "issuer"

    /// Of a sign-in by `method` (RFC 8176).
    public static func of(_ method: String) -> String {
        switch method {
        case "pwd": all[0]
        case "otp": all[1]
        default: all[2]
        }
    }

    /// The methods of RFC 8176 that `method` stands for, if it has a name there.
    public static func references(_ method: String) -> [String]? { method == byIssuer ? nil : [method] }
}
