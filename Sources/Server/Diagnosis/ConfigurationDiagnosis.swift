import Keys
import Values

/// What is weak about a valid configuration.
enum ConfigurationDiagnosis {
    static let subject = "configuration"

    static func findings(_ faults: ConfigurationFaults) -> [Finding] {
        faults.faults.map { Finding(subject, .bad, $0.description) }
    }

    static func findings(_ configuration: SpindleConfiguration) -> [Finding] {
        var findings = [Finding(subject, .good, "every setting is understood")]
        let issuer = configuration.issuer
        if !issuer.isSecure, !issuer.isLoopback {
            findings.append(
                Finding(subject, .warning, "issuer \(issuer) is not https: tokens and passwords can be read on the way")
            )
        }
        if !configuration.outboundAllowPrivate.isEmpty {
            let networks = configuration.outboundAllowPrivate.map(\.description).joined(separator: ", ")
            findings.append(
                Finding(subject, .warning, "outbound_allow_private lets merchants' addresses reach \(networks)"))
        }
        for (setting, address) in [
            ("facebook_api", configuration.facebookAPI), ("google_api", configuration.googleAPI),
        ] where !address.hasPrefix("https://") {
            findings.append(
                Finding(
                    subject, .warning,
                    "\(setting) \(address) is not https: whoever answers there decides who somebody is"))
        }
        if let realm = configuration.basicRealm {
            findings.append(
                Finding(
                    subject, .warning,
                    "basic_realm \(realm): /me and /oauth/userinfo take people's passwords too, which apps then keep"))
        }
        if configuration.unsafeFrontChannelTokens {
            findings.append(
                Finding(
                    subject, .warning,
                    "unsafe_front_channel_tokens: clients that registered themselves get access tokens in addresses"))
        }
        if let everyone = configuration.trustedProxies.first(where: { $0.prefix == 0 }) {
            findings.append(
                Finding(subject, .warning, "trusted_proxies \(everyone) lets anybody claim any address"))
        }
        if issuer.isSecure, configuration.tls == nil, configuration.trustedProxies.isEmpty {
            findings.append(
                Finding(
                    subject, .warning,
                    "issuer \(issuer) is https without tls_certificate or trusted_proxies: every request counts as the "
                        + "proxy's, so that one stranger uses up the limits of all"))
        }
        return findings
    }
}
