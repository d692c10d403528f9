import Keys
import Values

/// What is weak about a valid configuration.
enum ConfigurationDiagnosis {
    static let subject = "configuration"

    static func findings(_ faults: ConfigurationFaults) -> [Finding] {
        faults.faults.map { Finding(subject, .bad, $0.description) }
    }

    static func findings(_ configuration: SpindleConfiguration) -> [Finding] {
        let warnings = reach(configuration) + providers(configuration) + choices(configuration)
        return [Finding(subject, .good, "every setting is understood")]
            + warnings.map { Finding(subject, .warning, $0) }
    }

    /// Providers with another host: a replaced provider host can sign in as any user.
    private static func providers(_ configuration: SpindleConfiguration) -> [String] {
        [
            ("facebook_api", configuration.facebookAPI, SpindleConfiguration.ownFacebookAPI),
            ("google_api", configuration.googleAPI, SpindleConfiguration.ownGoogleAPI),
        ].compactMap { setting, address, own -> String? in
            let meaning = "the server there decides who a user is"
            guard address.hasPrefix("https://") else { return "\(setting) \(address) is not https: \(meaning)" }
            let parts = URIParts(address)
            let isOwn = parts?.host?.lowercased() == URIParts(own)?.host && (parts?.port ?? 443) == 443
            return isOwn ? nil : "\(setting) \(address) is not the provider's own host: \(meaning)"
        }
    }

    /// Settings that an operator may choose, and what they cost.
    private static func choices(_ configuration: SpindleConfiguration) -> [String] {
        var warnings: [String] = []
        if let realm = configuration.basicRealm {
            warnings.append(
                "basic_realm \(realm): /me and /oauth/userinfo accept users' passwords too, which apps then keep")
        }
        if configuration.unsafeFrontChannelTokens {
            warnings.append(
                "unsafe_front_channel_tokens: self-registered clients get access tokens in URLs")
        }
        if configuration.keyRotation == nil {
            warnings.append(
                "key_rotation 0: a stolen signing key can be used until `spindle key withdraw`")
        }
        if configuration.introspectionCache > .zero {
            warnings.append(
                "introspection_cache \(configuration.introspectionCache.components.seconds): callers may go on "
                    + "accepting a revoked token for that many seconds")
        }
        if configuration.sessionSameSite == .none {
            warnings.append("session_samesite none: requests from any other site's pages carry users' sessions")
        }
        return warnings
    }
}
