import Authentication
import BrowserPages
import HTTPSupport
import Pages

/// `spindle serve --dev`: anybody signs in as anybody. A word of the command line and no setting: it cannot be left on in a
/// file. Where it could hurt somebody it is refused (docs/decisions/development-mode.md).
enum DevelopmentMode {
    /// What of `configuration` does not go with it.
    static func check(_ configuration: SpindleConfiguration) throws(ConfigurationFaults) {
        var faults: [ConfigurationFault] = []
        if configuration.issuer.isSecure || configuration.tls != nil {
            faults.append(
                ConfigurationFault(
                    "issuer",
                    "an http URL with --dev, such as http://127.0.0.1:8080: https is for people, and --dev lets anybody "
                        + "sign in as anybody. Leave --dev out, or the certificate and the https issuer"))
        }
        if !configuration.listen.isLoopback {
            faults.append(
                ConfigurationFault(
                    "listen",
                    "an address of this machine alone with --dev, such as 127.0.0.1:8080: from elsewhere anybody could "
                        + "sign in as anybody. docs/guide-development.md says how phones and containers reach it"))
        }
        guard faults.isEmpty else { throw ConfigurationFaults(faults) }
    }

    /// What answers besides, on a server whose pages say that it is one for development: on any other, nothing.
    static func endpoints(
        _ parts: Parts, _ stores: Stores, pages: PageRenderer, arrivals: NewSessions, verifications: Verifications
    ) -> [any Endpoint] {
        guard parts.templates.isDevelopment else { return [] }
        return [
            DevelopmentSignInEndpoint(
                pages: pages,
                signIn: DevelopmentSignIn(database: parts.database, clock: parts.clock, news: stores.news),
                arrivals: arrivals, verifications: verifications),
            DevelopmentAnswerEndpoint(pages: pages),
        ]
    }
}

extension ListenAddress {
    /// Whether nobody but this machine reaches it.
    fileprivate var isLoopback: Bool { IssuerURL("http://\(self)")?.isLoopback ?? false }
}
