import Values

/// Who reaches the server, whom it reaches, and whom it believes about that.
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
                ? "trusted_proxies \(network) lets anybody claim any address"
                : "trusted_proxies \(network) is more than proxies: everybody there can claim any address"
        }
        if issuer.isSecure, configuration.tls == nil, configuration.trustedProxies.isEmpty {
            warnings.append(
                "issuer \(issuer) is https without tls_certificate or trusted_proxies: every request counts as the "
                    + "proxy's, so that one stranger uses up the limits of all")
        }
        return warnings
    }

    /// Addresses without TLS that other machines may reach. In a container behind a proxy it is the proxy alone that
    /// should.
    private static func openAddresses(_ configuration: SpindleConfiguration) -> [String] {
        guard configuration.tls == nil else { return [] }
        let addresses: [(String, ListenAddress?)] = [
            ("listen", configuration.listen), ("admin_listen", configuration.adminListen),
        ]
        return addresses.compactMap { setting, address -> String? in
            guard let address, !address.isLoopback else { return nil }
            return "\(setting) \(address) is without TLS: tokens and passwords can be read on the way, and whoever "
                + "reaches it passes by the proxy. Close the port to all but the proxy"
        }
    }

    /// Networks that everybody's machines have by default, however wide.
    private static let privateNetworks = ["fc00::/7", "fe80::/10"].compactMap { CIDR($0) }

    /// Whether no operator can have that many proxies.
    private static func isTooWide(_ network: CIDR) -> Bool {
        let isPrivate = privateNetworks.contains { $0.prefix <= network.prefix && $0.contains(network.address) }
        return network.prefix < (network.address.description.contains(":") ? 16 : 8) && !isPrivate
    }
}
