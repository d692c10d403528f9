import Values

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
