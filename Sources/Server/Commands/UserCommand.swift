import Administration
import Authentication
import CommandLineTool
import Directory
import JSON
import OAuth
import Storage
import Values

/// `spindle user …`
struct UserCommand: CommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "user", abstract: "Users: the people who sign in.",
        subcommands: [Create.self, List.self, Show.self, Change.self, Delete.self, Import.self])

    struct Create: StoreCommand {
        static let configuration = CommandConfiguration(abstract: "Make an account.")
        @OptionGroup var members: UserMembers
        @OptionGroup var output: OutputOptions
        @OptionGroup(title: "Configuration") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            let changes = try UserChanges(members.json())
            let user = try await tellingTakenAddress {
                try await stores.administration.create(changes, by: .commandLine)
            }
            output.print(user.adminJSON)
        }
    }

    struct List: StoreCommand {
        static let configuration = CommandConfiguration(abstract: "List accounts.")
        @Option(help: "Those connected to clients of this merchant only.") var merchant: String?
        @OptionGroup var page: PageOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup(title: "Configuration") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            guard let cursor = page.after.map({ Int64($0) }) ?? 0 else {
                throw CommandFailure("--after: must be the cursor of a page before", .usage)
            }
            let found = try await stores.administration.list(
                by: .commandLine, connectedTo: merchant.map { Merchant.ID($0) }, after: cursor, count: page.fetchCount)
            output.print(
                page.page(found, cursor: \.id.description, json: \.adminJSON),
                columns: ["user_id", "email", "email_verified", "name", "disabled"])
        }
    }

    struct Show: StoreCommand {
        static let configuration = CommandConfiguration(abstract: "Show an account.")
        @Argument() var id: String
        @OptionGroup var output: OutputOptions
        @OptionGroup(title: "Configuration") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            guard let user = try await stores.users.find(try userID(id)) else {
                throw CommandFailure.notFound("user", id)
            }
            output.print(user.adminJSON)
        }
    }

    struct Change: StoreCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change what is named of an account. A new password ends its tokens and sessions.",
            discussion: """
                A new password together with another address, or where nobody has proved the address, also removes \
                linked providers, the verified phone number, consents and connections to clients, as the first reset \
                by mail does: somebody else may have set them up. A user who had no address keeps them. \
                --email-verified alone removes nothing: it says that whoever has the account reads the address.
                """)
        @Argument() var id: String
        @OptionGroup var members: UserMembers
        @Flag(deniable: "Disable it and end its tokens and sessions, or enable it again.")
        var disabled: Bool?
        @OptionGroup var output: OutputOptions
        @OptionGroup(title: "Configuration") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            let user = try userID(id)
            let changes = try UserChanges(members.json().adding("disabled", disabled))
            let changed = try await tellingTakenAddress {
                try await stores.administration.change(user, changes, by: .commandLine)
            }
            guard let changed else { throw CommandFailure.notFound("user", id) }
            output.print(changed.adminJSON)
        }
    }

    struct Delete: StoreCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete an account and all it holds, at once; the person is told by mail.")
        @Argument() var id: String
        @OptionGroup var output: OutputOptions
        @OptionGroup(title: "Configuration") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            guard
                case .deleted = try await stores.administration.remove(
                    try userID(id), by: .commandLine, within: .unlimited)
            else {
                throw CommandFailure.notFound("user", id)
            }
            output.say("deleted user \(id)")
        }
    }
}

/// The id of the user that an operator names. Throws `CommandFailure.notFound` for a text that is no user id.
private func userID(_ text: String) throws -> UserID {
    guard let id = UserID(text) else { throw CommandFailure.notFound("user", text) }
    return id
}

/// Reports a conflict as a taken e-mail address: nothing else that these commands set is unique.
private func tellingTakenAddress<Value>(_ work: () async throws -> Value) async throws -> Value {
    do {
        return try await work()
    } catch StorageError.conflict {
        throw JSONFault("email", "an address that no other account has")
    }
}
