import CommandLineTool
import Directory
import JSON
import Keys
import OAuth
import Values

/// `spindle init`: makes the database, master key, signing keys and an admin client, once.
struct InitCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make the database, the keys and an admin client. A second run makes nothing anew.")

    @Flag(help: "Print JSON.") var json = false
    @OptionGroup(title: "Configuration") var options: ConfigurationOptions

    func run() async throws {
        let configuration = try options.read()
        let log = StandardErrorLog(configuration)
        defer { log.flush() }
        let installation = try await Installation.open(configuration, for: .initialising)
        do {
            let outcome = try await initialise(installation, try installation.stores(configuration, log.logger()))
            await installation.close()
            report(outcome, configuration)
        } catch {
            await installation.close()
            throw error
        }
    }

    private enum Outcome {
        case made(Clients.Registered)
        case present(Client.ID?)
    }

    private func initialise(_ installation: Installation, _ stores: Stores) async throws -> Outcome {
        let signingKeys = StoredSigningKeys(database: installation.database, seal: installation.seal)
        try await signingKeys.createMissing(at: installation.clock.now)
        let administrator = FirstAdministrator(stores)
        if let id = try await administrator.find() { return .present(id) }
        if let made = try await administrator.create() { return .made(made) }
        return .present(try await administrator.find())
    }

    private func report(_ outcome: Outcome, _ configuration: SpindleConfiguration) {
        let database = configuration.database.description
        let keyFile = configuration.masterKey.path
        let (id, secret) =
            switch outcome {
            case .made(let made): (made.client.id, made.secret?.value)
            case .present(let id): (id ?? Client.ID(""), String?.none)
            }
        if json {
            Terminal.print(
                json: .members([
                    "admin_client_id": .string(id.text), "admin_client_secret": secret.map { .string($0) },
                    "database": .string(database), "master_key_file": keyFile.map { .string($0) },
                ]))
        }
        guard let secret else {
            return Terminal.tell(
                """
                \(database) was initialised already. Its admin client is \(id).
                If its secret is lost: spindle client add-secret \(id)
                """)
        }
        guard !json else { return }
        Terminal.print(
            """
            database             \(database)
            master key file      \(keyFile ?? "- (given by the configuration)")
            admin client id      \(id)
            admin client secret  \(secret)

            The secret is not shown again. The master key is in no backup: keep a copy of it in a safe place.
            """)
    }
}
