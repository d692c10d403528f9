import ArgumentParser

/// A command that works with the stores of an installation, also while a server runs on it.
protocol StoreCommand: AsyncParsableCommand {
    var options: ConfigurationOptions { get }

    func run(with stores: Stores) async throws
}

extension StoreCommand {
    func run() async throws {
        let installation = try await Installation.open(try options.read(), for: .administering)
        do {
            try await run(with: try installation.stores())
        } catch {
            await installation.close()
            throw error
        }
        await installation.close()
    }
}
