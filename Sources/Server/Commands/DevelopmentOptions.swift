import CommandLineTool
import HTTPSupport
import Logging

/// The options of `serve` for development.
struct DevelopmentOptions: CommandArguments {
    @Flag(
        help: "For development on this machine: any user can be signed in by name. Creates what is missing, "
            + "including the client dev. Its database is never served under https afterwards.")
    var dev = false
    @Option(
        name: "dev-redirect-uri",
        help: "With --dev: a redirect URI of the client dev; may be repeated. The given ones replace those it "
            + "has; one whose path ends with /_oidc_callback is for the client sync_gateway.",
        valueName: "uri")
    var redirectURIs: [String] = []

    func validate() throws(Misuse) {
        guard dev || redirectURIs.isEmpty else { throw Misuse("--dev-redirect-uri requires --dev") }
    }

    /// Prepares `installation` for development and returns instructions. Without `--dev`, returns nil and only checks
    /// that the installation is not one for development.
    func prepare(
        _ installation: Installation, _ configuration: SpindleConfiguration, _ logger: Logger
    ) async throws -> String? {
        guard dev else {
            try await DevelopmentFlag(database: installation.database).refuse(under: configuration.issuer)
            return nil
        }
        logger.warning("development mode: any user can be signed in without a password")
        let setup = DevelopmentSetup(
            installation: installation, stores: try installation.stores(configuration, logger),
            site: Site(configuration))
        return setup.welcome(try await setup.prepare(redirectURIs: redirectURIs))
    }
}
