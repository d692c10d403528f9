/// `spindle serve --dev`: signs in any user by name. It is a command line flag and not a setting, so that it cannot be
/// left on in a file. It is refused where it could do harm (docs/decisions/development-mode.md).
enum DevelopmentMode {
    /// Throws what in `configuration` conflicts with development mode.
    static func check(_ configuration: SpindleConfiguration) throws(ConfigurationFaults) {
        var faults: [ConfigurationFault] = []
        if configuration.issuer.isSecure || configuration.tls != nil {
            faults.append(
                ConfigurationFault(
                    "issuer",
                    "an http URL with --dev, such as http://127.0.0.1:8080: https is for real users, and --dev "
                        + "signs in "
                        + "any user without a password. Leave out --dev, or the certificate and the https issuer"))
        } else if !configuration.issuer.isLoopback {
            faults.append(
                ConfigurationFault(
                    "issuer",
                    "an address of this machine with --dev, such as http://127.0.0.1:8080: only this machine may reach "
                        + "it. docs/guide-development.md says how phones and containers do"))
        }
        let addresses = [("listen", configuration.listen, 8080), ("admin_listen", configuration.adminListen, 8081)]
        for (key, address, port) in addresses where address?.isLoopback == false {
            faults.append(
                ConfigurationFault(
                    key,
                    "an address of this machine alone with --dev, such as 127.0.0.1:\(port): otherwise other machines "
                        + "could sign in as any user. docs/guide-development.md says how phones and containers "
                        + "reach it")
            )
        }
        guard faults.isEmpty else { throw ConfigurationFaults(faults) }
    }
}

extension ListenAddress {
    /// Whether only this machine can reach it.
    var isLoopback: Bool { IssuerURL.isLoopback(host.lowercased()) }
}
