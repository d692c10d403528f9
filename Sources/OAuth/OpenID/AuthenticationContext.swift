/// The authentication context class references of this server: how a user signed in (OpenID Connect Core §2, `acr`).
public enum AuthenticationContext {
    public static let all = ["urn:spindle:password", "urn:spindle:mail", "urn:spindle:issuer"]

    /// The method of a sign-in at an identity provider. RFC 8176 has no name for it.
    public static let byIssuer = "issuer"

    /// The context of a sign-in by text message, which only apps' own forms have: a request cannot ask for it.
    private static let byText = "urn:spindle:sms"

    /// The context of a sign-in by `method` (RFC 8176).
    public static func of(_ method: String) -> String {
        switch method {
        case "pwd": all[0]
        case "otp": all[1]
        case "sms": byText
        default: all[2]
        }
    }

    /// The methods of RFC 8176 that `method` stands for, if it has a name there.
    public static func references(_ method: String) -> [String]? { method == byIssuer ? nil : [method] }
}
