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
        abstract: "Make the database, the keys and an admin client. A second run changes nothing.")

    @Flag(help: "Print JSON.") var json = false
    @OptionGroup(topic: "settings") var options: ConfigurationOptions

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
        /// An earlier run made the client.
        case present(Client.ID?, isDeleted: Bool)
    }

    private func initialise(_ installation: Installation, _ stores: Stores) async throws -> Outcome {
        let signingKeys = StoredSigningKeys(database: installation.database, seal: installation.seal)
        try await signingKeys.createMissing(at: installation.clock.now)
        let administrator = FirstAdministrator(stores)
        if try await administrator.find() == nil, let made = try await administrator.create() { return .made(made) }
        guard let id = try await administrator.find() else { return .present(nil, isDeleted: false) }
        return .present(id, isDeleted: try await stores.clients.find(id) == nil)
    }

    private func report(_ outcome: Outcome, _ configuration: SpindleConfiguration) {
        let database = configuration.database.description
        let keyFile = configuration.masterKey.path
        let (id, secret, isDeleted) =
            switch outcome {
            case .made(let made): (made.client.id, made.secret?.value, false)
            case .present(let id, let isDeleted): (id ?? Client.ID(""), String?.none, isDeleted)
            }
        let loss = secret.map { _ in "Its secret is lost: spindle client add-secret \(id) makes another" }
        if json {
            Terminal.print(
                json: .members([
                    "admin_client_id": .string(id.text), "admin_client_secret": secret.map { .string($0) },
                    "database": .string(database), "master_key_file": keyFile.map { .string($0) },
                ]), loss: loss)
        }
        guard let secret else {
            let client =
                isDeleted
                ? """
                Its admin client \(id) is deleted. Another one:
                spindle client create --name Administrator --grant-type client_credentials --scope admin
                """
                : """
                Its admin client is \(id).
                If its secret is lost: spindle client add-secret \(id)
                """
            return Terminal.tell("\(database) was initialised already. \(client)")
        }
        guard !json else { return }
        Terminal.print(
            """
            database             \(database)
            master key file      \(keyFile ?? "- (given by the configuration)")
            admin client id      \(id)
            admin client secret  \(secret)

            The secret is not shown again. The master key is in no backup: keep a copy of it in a safe place.
            """, loss: loss)
    }
}
