import HTTPServer
import Keys
import Logging
import Outbound
import Pages
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

/// Who can reach the server, what it can reach, and which proxies it trusts.
extension ConfigurationDiagnosis {
    static func reach(_ configuration: SpindleConfiguration) -> [String] {
        let issuer = configuration.issuer
        var warnings: [String] = []
        if !issuer.isSecure, !issuer.isLoopback {
            warnings.append("issuer \(issuer) is not https: tokens and passwords can be read on the way")
        }
        warnings += openAddresses(configuration)
        if !configuration.outboundAllowPrivate.isEmpty {
            let networks = configuration.outboundAllowPrivate.map(\.description).joined(separator: ", ")
            warnings.append(
                "outbound_allow_private lets addresses that merchants and clients register reach \(networks), "
                    + "over http too")
        }
        warnings += configuration.trustedProxies.filter(isTooWide).map { network in
            network.prefix == 0
                ? "trusted_proxies \(network) lets any machine claim any address"
                : "trusted_proxies \(network) is wider than proxies: any machine there can claim any address"
        }
        if issuer.isSecure, configuration.tls == nil, configuration.trustedProxies.isEmpty {
            warnings.append(
                "issuer \(issuer) is https without tls_certificate or trusted_proxies: every request counts as the "
                    + "proxy's, so that one client can use up the limits of all")
        }
        return warnings
    }

    /// Addresses without TLS that other machines may reach. In a container behind a proxy, only the proxy should.
    private static func openAddresses(_ configuration: SpindleConfiguration) -> [String] {
        guard configuration.tls == nil else { return [] }
        let addresses: [(String, ListenAddress?)] = [
            ("listen", configuration.listen), ("admin_listen", configuration.adminListen),
        ]
        return addresses.compactMap { setting, address -> String? in
            guard let address, !address.isLoopback else { return nil }
            return "\(setting) \(address) is without TLS: tokens and passwords can be read on the way, and clients "
                + "that reach it bypass the proxy. Close the port to all but the proxy"
        }
    }

    /// Default networks of ordinary machines, which are not too wide however wide they are.
    private static let privateNetworks = ["fc00::/7", "fe80::/10"].compactMap { CIDR($0) }

    /// Whether the network is wider than any operator's set of proxies.
    private static func isTooWide(_ network: CIDR) -> Bool {
        let isPrivate = privateNetworks.contains { $0.prefix <= network.prefix && $0.contains(network.address) }
        return network.prefix < (network.address.description.contains(":") ? 16 : 8) && !isPrivate
    }
}

/// Checks whether a server answers at the issuer's URL as clients use it: by its name, and by https if the URL says so.
enum IssuerDiagnosis {
    static func finding(_ issuer: IssuerURL) async -> Finding {
        let outbound = Outbound(policy: .toOperators(), logger: .silent)
        let url = issuer.origin + "/healthz"
        do {
            let status = try await outbound.get(url).status
            return Finding("issuer", status == 200 ? .good : .bad, "\(url) answers \(status)")
        } catch {
            return Finding("issuer", .bad, "\(url): \(error)")
        }
    }
}

/// Checks whether pages and mails can be rendered with the templates in an operator's folder.
enum PagesDiagnosis {
    private static let subject = "pages"

    static func finding(_ configuration: SpindleConfiguration) -> Finding {
        do {
            _ = try Templates(configuration)
        } catch {
            return Finding(subject, .bad, "\(ConfigurationKey.templates.rawValue): \(error)")
        }
        guard let folder = configuration.templates else { return Finding(subject, .good, "all are Spindle's own") }
        return Finding(subject, .good, "the files in \(folder) replace Spindle's own")
    }
}

/// Checks whether the certificate can be served, and for how much longer.
enum CertificateDiagnosis {
    private static let subject = "certificate"
    /// An automatic renewal has normally happened by then.
    static let notice: Duration = .days(14)

    /// No findings when another server terminates TLS.
    static func findings(_ configuration: SpindleConfiguration, at now: Timestamp) -> [Finding] {
        guard let files = configuration.tls else { return [] }
        do {
            let settings = TLSSettings(certificate: files.certificate, key: files.key)
            // RFC 5280 §4.1.2.5: the latest time that can be written is in the year 9999.
            let end = Timestamp(milliseconds: 0) + .seconds(try settings.certificateEnd())
            return [finding(files.certificate, end: end, at: now)]
        } catch {
            return [Finding(subject, .bad, "\(error)")]
        }
    }

    static func finding(_ file: String, end: Timestamp, at now: Timestamp) -> Finding {
        guard now < end else { return Finding(subject, .bad, "\(file) ended at \(end.iso8601)") }
        let state: Finding.State = end - now < notice ? .warning : .good
        return Finding(subject, state, "\(file) ends at \(end.iso8601)")
    }
}
