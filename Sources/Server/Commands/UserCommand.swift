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
        commandName: "user", abstract: "Users of the merchants' apps.",
        subcommands: [Create.self, List.self, Show.self, Change.self, Delete.self, Import.self])

    struct Create: StoreCommand {
        static let configuration = CommandConfiguration(abstract: "Create a user.")
        @OptionGroup var members: UserMembers
        @OptionGroup var output: OutputOptions
        @OptionGroup(topic: "settings") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            let changes = try UserChanges(members.json())
            let user = try await tellingTakenAddress {
                try await stores.users.create(changes, by: Administrator.commandLine)
            }
            output.print(user.adminJSON)
        }
    }

    struct List: StoreCommand {
        static let configuration = CommandConfiguration(abstract: "List users.")
        @Option(help: "Only users connected to clients of this merchant.") var merchant: String?
        @Option(help: "Only the user with this e-mail address.") var email: String?
        @OptionGroup var page: PageOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup(topic: "settings") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            let columns = ["user_id", "email", "email_verified", "name", "disabled"]
            if let merchant { _ = try await stores.merchants.known(merchant) }
            if let email {
                guard merchant == nil, page.after == nil else {
                    throw CommandFailure("--email: leave out --merchant and --after beside it", .usage)
                }
                guard let address = EmailAddress(email) else { throw JSONFault("email", "an e-mail address") }
                let found = try await stores.users.find(address).map { [$0] } ?? []
                if found.isEmpty { Terminal.tell("there is no user with the address \(address.text.printable)") }
                return output.print(Page(items: found.map(\.adminJSON), next: nil), columns: columns)
            }
            let list = ListCursor(of: "users", merchant: merchant)
            let found = try await stores.administration.list(
                by: .commandLine, connectedTo: merchant.map { Merchant.ID($0) }, after: page.number(in: list),
                count: page.fetchCount)
            output.print(
                page.page(found, of: list, position: \.id.description, json: \.adminJSON),
                columns: columns)
        }
    }

    struct Show: StoreCommand {
        static let configuration = CommandConfiguration(abstract: "Show a user.")
        @Argument(help: "The user's e-mail address or number.") var user: String
        @OptionGroup var output: OutputOptions
        @OptionGroup(topic: "settings") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            output.print(try await stores.users.known(user).adminJSON)
        }
    }

    struct Change: StoreCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change the given members of a user. A new password ends their tokens and sessions.",
            discussion: """
                If the address changes too, or was never proved, a new password also removes linked providers, the \
                verified phone number, consents and connections to clients, as the first reset by mail does: another \
                user may have set them up. A user who had no address keeps them. --email-verified alone removes \
                nothing: it states that the user reads the address.
                """)
        @Argument(help: "The user's e-mail address or number.") var user: String
        @OptionGroup var members: UserMembers
        @Flag(deniable: "Disable the user and end their tokens and sessions, or enable them again.")
        var disabled: Bool?
        @OptionGroup var output: OutputOptions
        @OptionGroup(topic: "settings") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            let id = try await stores.users.known(user).id
            let changes = try UserChanges(members.json().adding("disabled", disabled).changing())
            let changed = try await tellingTakenAddress {
                try await stores.users.change(id, changes, by: Administrator.commandLine)
            }
            guard let changed else { throw CommandFailure.notFound("user", user) }
            output.print(changed.adminJSON)
        }
    }

    struct Delete: StoreCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a user and all their data at once; the user is told by mail.")
        @Argument(help: "The user's e-mail address or number.") var user: String
        @OptionGroup var confirmation: ConfirmationOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup(topic: "settings") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            let found = try await stores.users.known(user)
            let id = found.id
            try confirmation.confirm(
                deleting: "the user \(id)\(found.email.map { " (\($0.printable))" } ?? "") and all their data")
            guard case .deleted = try await stores.administration.remove(id, by: .commandLine, within: .unlimited)
            else {
                throw CommandFailure.notFound("user", user)
            }
            output.say("deleted user \(id)")
        }
    }
}

extension Users {
    /// The user that an operator names, by e-mail address or number. Throws `CommandFailure`.
    func known(_ name: String) async throws -> User {
        if let email = EmailAddress(name) {
            guard let user = try await find(email) else {
                throw CommandFailure("there is no user with the address \(email.text.printable)")
            }
            return user
        }
        guard let id = UserID(name) else {
            throw CommandFailure("'\(name.printable)' is neither an e-mail address nor a user's number", .usage)
        }
        guard let user = try await find(id) else { throw CommandFailure.notFound("user", name) }
        return user
    }
}

/// Reports a conflict as a taken e-mail address, the only unique value that these commands set.
private func tellingTakenAddress<Value>(_ work: () async throws -> Value) async throws -> Value {
    do {
        return try await work()
    } catch StorageError.conflict {
        throw JSONFault("email", "an address that no other user has")
    }
}
