import CommandLineTool

/// A command that works with the stores of an installation, even while a server runs on it.
protocol StoreCommand: Command {
    var options: ConfigurationOptions { get }

    func run(with stores: Stores) async throws
}

extension StoreCommand {
    func run() async throws {
        let configuration = try options.read()
        let log = StandardErrorLog(configuration)
        defer { log.flush() }
        let installation = try await Installation.open(configuration, for: .administering)
        do {
            try await run(with: try installation.stores(configuration, log.logger()))
        } catch {
            await installation.close()
            throw error
        }
        await installation.close()
    }
}
