import Administration
import CommandLineTool
import Directory
import JSON
import OAuth
import Storage
import Values

/// `spindle client …`
struct ClientCommand: CommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "client", abstract: "Clients: apps and backends that ask for tokens.",
        subcommands: [
            Create.self, List.self, Show.self, Change.self, Delete.self, AddSecret.self, EndSecret.self,
        ])

    struct Create: StoreCommand {
        static let configuration = CommandConfiguration(abstract: "Register a client. Its secrets are shown once.")
        @Option(help: "The id of the merchant that it belongs to.", sets: "merchant_id")
        var merchant: String?
        @Option(help: "An id that its programs know already. By default a new one is made.")
        var id: String?
        @Option(
            help: """
                client_secret_basic, client_secret_post, client_secret_jwt, or none for an app that can keep no \
                secret. It cannot change.
                """)
        var tokenEndpointAuthMethod: String?
        @OptionGroup var members: ClientMembers
        @OptionGroup var output: OutputOptions
        @OptionGroup(topic: "settings") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            let method: [JSON.Member] =
                tokenEndpointAuthMethod.map { [JSON.Member("token_endpoint_auth_method", .string($0))] } ?? []
            let document = try members.json(besides: method)
            try stores.addresses.refuseOwn(in: document)
            let metadata = try ClientMetadata(ofNew: document)
            try stores.addresses.refuseUnaskable(in: document)
            let owner = try await Administrator.commandLine.merchant(
                named: merchant.map { Merchant.ID($0) }, ofNew: metadata, among: stores.merchants)
            let id = try id.map { try Client.ID(chosen: $0, in: "id") }
            let made = try await stores.clients.register(
                metadata, as: id, merchant: owner, by: Administrator.commandLine)
            output.print(made.json, loss: made.client.afterLoss)
        }
    }

    struct List: StoreCommand {
        static let configuration = CommandConfiguration(abstract: "List clients.")
        @Option(help: "Of this merchant only.") var merchant: String?
        @OptionGroup var page: PageOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup(topic: "settings") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            let list = ListCursor(of: "clients", merchant: merchant)
            if let merchant { _ = try await stores.merchants.known(merchant) }
            let after = try page.position(in: list).map { ClientSearch.Place(id: .init($0)) }
            let found = try await stores.clients.list(
                ClientSearch(of: merchant.map { Merchant.ID($0) }), after: after, count: page.fetchCount)
            output.print(
                page.page(found, of: list, position: \.id.text, json: \.json),
                columns: ["client_id", "merchant_id", "client_name", "grant_types", "disabled"])
        }
    }

    struct Show: StoreCommand {
        static let configuration = CommandConfiguration(abstract: "Show a client.")
        @Argument() var id: String
        @OptionGroup var output: OutputOptions
        @OptionGroup(topic: "settings") var options: ConfigurationOptions

        func run(with stores: Stores) async throws { output.print(try await stores.clients.known(id).json) }
    }

    struct Change: StoreCommand {
        static let configuration = CommandConfiguration(abstract: "Change the given members of a client.")
        @Argument() var id: String
        @OptionGroup var members: ClientMembers
        @Flag(deniable: "Disable it, or enable it again.") var disabled: Bool?
        @OptionGroup var output: OutputOptions
        @OptionGroup(topic: "settings") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            let changes = try members.json().adding("disabled", disabled).changing()
            try stores.addresses.refuseOwn(in: changes)
            try stores.addresses.refuseUnaskable(in: changes)
            let client = Client.ID(id)
            guard let changed = try await stores.clients.change(client, changes, by: Administrator.commandLine) else {
                throw CommandFailure.notFound("client", id)
            }
            output.print(changed.json)
        }
    }

    struct Delete: StoreCommand {
        static let configuration = CommandConfiguration(abstract: "Delete a client and all its data.")
        @Argument() var id: String
        @OptionGroup var confirmation: ConfirmationOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup(topic: "settings") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            let name = try await stores.clients.known(id).name
            try confirmation.confirm(deleting: "the client \(name.printable) and all its data")
            let client = Client.ID(id)
            guard try await stores.clients.delete(client, within: .unlimited, by: Administrator.commandLine) else {
                throw CommandFailure.notFound("client", id)
            }
            output.say("deleted client \(id)")
        }
    }
}

extension Clients {
    /// The client with the id that an operator gave. Throws `CommandFailure.notFound`.
    func known(_ id: String) async throws -> Client {
        guard let client = try await find(Client.ID(id)) else { throw CommandFailure.notFound("client", id) }
        return client
    }
}
