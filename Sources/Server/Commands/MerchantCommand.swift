import Administration
import CommandLineTool
import Directory
import Federation
import JSON
import OAuth
import Storage
import System
import Values

/// `spindle merchant …`
struct MerchantCommand: CommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "merchant", abstract: "Merchants: the owners of clients.",
        subcommands: [Create.self, List.self, Show.self, Change.self, Delete.self])

    struct Create: StoreCommand {
        static let configuration = CommandConfiguration(abstract: "Create a merchant.")
        @OptionGroup var members: Members
        @Option(help: "Its number in SPiD's API, 1 to 2147483647, if clients know one already.") var number: Int?
        @OptionGroup var output: OutputOptions
        @OptionGroup(topic: "settings") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            let numbered: [JSON.Member] = number.map { [JSON.Member("number", .integer(Int64($0)))] } ?? []
            let document = JSON.object((try members.json().members ?? []) + numbered)
            try stores.addresses.refuseOwn(in: document)
            output.print(try await stores.merchants.create(document, by: Administrator.commandLine).json)
        }
    }

    struct List: StoreCommand {
        static let configuration = CommandConfiguration(abstract: "List merchants.")
        @OptionGroup var page: PageOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup(topic: "settings") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            let list = ListCursor(of: "merchants")
            let after = try page.position(in: list).map { MerchantSearch.Place(id: .init($0)) }
            let found = try await stores.merchants.list(MerchantSearch(), after: after, count: page.fetchCount)
            output.print(
                page.page(found, of: list, position: \.id.text, json: \.json),
                columns: ["id", "number", "name", "disabled"])
        }
    }

    struct Show: StoreCommand {
        static let configuration = CommandConfiguration(abstract: "Show a merchant.")
        @Argument() var id: String
        @OptionGroup var output: OutputOptions
        @OptionGroup(topic: "settings") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            output.print(try await stores.merchants.known(id).json)
        }
    }

    struct Change: StoreCommand {
        static let configuration = CommandConfiguration(abstract: "Change the given members of a merchant.")
        @Argument() var id: String
        @OptionGroup var members: Members
        @Flag(deniable: "Disable it with all its clients, or enable it again.") var disabled: Bool?
        @OptionGroup var output: OutputOptions
        @OptionGroup(topic: "settings") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            let changes = try members.json().adding("disabled", disabled).changing()
            try stores.addresses.refuseOwn(in: changes)
            let changed = try await stores.merchants.change(Merchant.ID(id), changes, by: Administrator.commandLine)
            guard let merchant = changed else {
                throw CommandFailure.notFound("merchant", id)
            }
            output.print(merchant.json)
        }
    }

    struct Delete: StoreCommand {
        static let configuration = CommandConfiguration(abstract: "Delete a merchant, its clients and all their data.")
        @Argument() var id: String
        @OptionGroup var confirmation: ConfirmationOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup(topic: "settings") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            let name = try await stores.merchants.known(id).name
            try confirmation.confirm(deleting: "the merchant \(name.printable), its clients and all their data")
            let merchant = Merchant.ID(id)
            let isDeleted = try await stores.merchants.delete(
                merchant, within: .unlimited, by: Administrator.commandLine,
                first: { try await stores.issuers.deleteAll(of: merchant, within: .unlimited) })
            guard isDeleted else {
                throw CommandFailure.notFound("merchant", id)
            }
            output.say("deleted merchant \(id)")
        }
    }
}

extension Merchants {
    /// The merchant with the id that an operator gave. Throws `CommandFailure.notFound`.
    func known(_ id: String) async throws -> Merchant {
        guard let merchant = try await find(Merchant.ID(id)) else { throw CommandFailure.notFound("merchant", id) }
        return merchant
    }
}

extension JSON {
    /// The document with one flag added, if the flag was given.
    func adding(_ name: String, _ flag: Bool?) -> JSON {
        guard let flag, let members else { return self }
        return .object(members + [Member(name, .bool(flag))])
    }
}

extension MerchantCommand {
    /// The members of a merchant on the command line.
    struct Members: CommandArguments {
        @Option(help: "Its name.") var name: String?
        @Flag(deniable: "Whether a device's logout also ends the tokens that backends got from it.")
        var logoutReachesBackends: Bool?
        @Flag(deniable: "Whether it is the platform's own: its clients need no introduction to users.")
        var skipIntroduction: Bool?
        @Option(help: "The https URL of a logo that its pages show; \"\" for none.") var logoURI: String?
        @Option(help: "The colour of its pages, as #rrggbb; \"\" for ours.") var accentColor: String?

        @Option(help: "The https URL that gets its events as signed tokens; \"\" for none.") var eventsURI: String?
        @Option(help: "A JSON file with its own texts for mails, replacing those it has; \"\" for ours.")
        var mailTemplates: String?

        func json() throws -> JSON {
            .members([
                "name": name.map { .string($0) }, "logout_reaches_backends": logoutReachesBackends.map { .bool($0) },
                "skip_introduction": skipIntroduction.map { .bool($0) },
                "logo_uri": logoURI.map(Self.textOrNothing), "accent_color": accentColor.map(Self.textOrNothing),
                "events_uri": eventsURI.map(Self.textOrNothing),
                "mail_templates": try mailTemplates.map(Self.documentOrNothing),
            ])
        }

        private static func textOrNothing(_ text: String) -> JSON { text.isEmpty ? .null : .string(text) }

        private static func documentOrNothing(_ file: String) throws -> JSON {
            guard !file.isEmpty else { return .null }
            guard let bytes = Files.read(file) else { throw CommandFailure("\(file.printable) cannot be read", .data) }
            do {
                return try JSON(parsing: bytes)
            } catch {
                throw CommandFailure("\(file.printable) is not JSON: \(error)", .data)
            }
        }
    }
}
