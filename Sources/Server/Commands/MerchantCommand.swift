import CommandLineTool
import Directory
import JSON
import OAuth
import Storage
import Values

/// `spindle merchant …`
struct MerchantCommand: CommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "merchant", abstract: "Merchants: the owners of clients.",
        subcommands: [Create.self, List.self, Show.self, Change.self, Delete.self])

    /// The members of a merchant on the command line.
    struct Members: CommandArguments {
        @Option(help: "Its name.") var name: String?
        @Flag(deniable: "Whether a device's logout also ends what backends redeemed from it.")
        var logoutReachesBackends: Bool?
        @Flag(deniable: "Whether it is the platform's own: its clients need no introduction to people.")
        var skipIntroduction: Bool?
        @Option(help: "The https URL of a logo that its pages show; \"\" for none.") var logoURI: String?
        @Option(help: "The colour of its pages, as #rrggbb; \"\" for ours.") var accentColor: String?

        var json: JSON {
            .members([
                "name": name.map { .string($0) }, "logout_reaches_backends": logoutReachesBackends.map { .bool($0) },
                "skip_introduction": skipIntroduction.map { .bool($0) },
                "logo_uri": logoURI.map(Self.textOrNothing), "accent_color": accentColor.map(Self.textOrNothing),
            ])
        }

        private static func textOrNothing(_ text: String) -> JSON { text.isEmpty ? .null : .string(text) }
    }

    struct Create: StoreCommand {
        static let configuration = CommandConfiguration(abstract: "Make a merchant.")
        @OptionGroup var members: Members
        @Option(help: "Its number in SPiD's API, if clients know one already.") var number: Int?
        @OptionGroup var output: OutputOptions
        @OptionGroup(title: "Configuration") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            let numbered: [JSON.Member] = number.map { [JSON.Member("number", .integer(Int64($0)))] } ?? []
            output.print(try await stores.merchants.create(.object((members.json.members ?? []) + numbered)).json)
        }
    }

    struct List: StoreCommand {
        static let configuration = CommandConfiguration(abstract: "List merchants.")
        @OptionGroup var page: PageOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup(title: "Configuration") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            let found = try await stores.merchants.list(after: page.after ?? "", count: page.fetchCount)
            output.print(
                page.page(found, cursor: \.id.text, json: \.json), columns: ["id", "number", "name", "disabled"])
        }
    }

    struct Show: StoreCommand {
        static let configuration = CommandConfiguration(abstract: "Show a merchant.")
        @Argument() var id: String
        @OptionGroup var output: OutputOptions
        @OptionGroup(title: "Configuration") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            guard let merchant = try await stores.merchants.find(Merchant.ID(id)) else {
                throw CommandFailure.notFound("merchant", id)
            }
            output.print(merchant.json)
        }
    }

    struct Change: StoreCommand {
        static let configuration = CommandConfiguration(abstract: "Change what is named of a merchant.")
        @Argument() var id: String
        @OptionGroup var members: Members
        @Flag(deniable: "Disable it with all its clients, or enable it again.") var disabled: Bool?
        @OptionGroup var output: OutputOptions
        @OptionGroup(title: "Configuration") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            let changes = members.json.adding("disabled", disabled)
            guard let merchant = try await stores.merchants.change(Merchant.ID(id), changes) else {
                throw CommandFailure.notFound("merchant", id)
            }
            output.print(merchant.json)
        }
    }

    struct Delete: StoreCommand {
        static let configuration = CommandConfiguration(abstract: "Delete a merchant, its clients and all they hold.")
        @Argument() var id: String
        @OptionGroup var output: OutputOptions
        @OptionGroup(title: "Configuration") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            guard try await stores.merchants.delete(Merchant.ID(id), within: .unlimited) else {
                throw CommandFailure.notFound("merchant", id)
            }
            output.say("deleted merchant \(id)")
        }
    }
}

extension JSON {
    /// The document with one flag added, if the flag was given.
    func adding(_ name: String, _ flag: Bool?) -> JSON {
        guard let flag, let members else { return self }
        return .object(members + [Member(name, .bool(flag))])
    }
}
