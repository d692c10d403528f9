import Audit
import CommandLineTool
import Directory
import JSON
import Storage
import Values

/// `spindle event …`
struct EventCommand: CommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "event", abstract: "Who did what, when and from where.",
        subcommands: [List.self, Verify.self])

    struct List: StoreCommand {
        static let configuration = CommandConfiguration(
            abstract: "List events, the newest first.",
            discussion: """
                With --follow it prints each event as it is stored, the oldest first, until it is interrupted: as \
                JSON, one object a line.
                """)
        @Option(help: "Only events of this user: an e-mail address or a number.") var user: String?
        @Option(help: "Only events of this client.", valueName: "client_id") var client: String?
        @Option(help: "Only events of this type, such as user.changed.") var type: String?
        @Option(help: "Only what the one with this id did.", valueName: "id") var actor: String?
        @Option(help: "Only what was done to the one with this id.", valueName: "id") var subject: String?
        @Option(help: "Only events of the request with this id in the log.", valueName: "id") var request: String?
        @Flag(help: "Go on printing events as they happen.") var follow = false
        @OptionGroup var page: PageOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup(topic: "settings") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            var query = AuditLog.Query()
            if let user {
                // A deleted user is still found by the number.
                if let id = UserID(user) { query.user = id } else { query.user = try await stores.users.known(user).id }
            }
            query.client = client
            query.kind = type
            query.actor = actor
            query.subject = subject
            query.requestID = request
            guard !follow else { return try await Self.follow(query, in: stores.audit) }
            let list = ListCursor(of: "events", filters: [])
            let start = try page.position(in: list) ?? ""
            let found = try await stores.audit.list(query, before: start, count: page.fetchCount)
            output.print(
                page.page(found, of: list, position: \.id.text, json: \.json),
                columns: ["time", "type", "actor", "subject", "client_id", "address", "outcome", "reason"])
        }

        private static func follow(_ query: AuditLog.Query, in log: AuditLog) async throws {
            var last = try await log.last()
            while !Task.isCancelled {
                let found = try await log.list(query, after: last, count: 100) ?? []
                for event in found { Terminal.print(json: event.json) }
                if let newest = found.last?.id { last = newest }
                if found.count < 100 { try await Task.sleep(for: .seconds(1)) }
            }
        }
    }

    struct Verify: StoreCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check that no event is missing or was changed.",
            discussion: """
                Each event is chained to the one before it by a hash. Prints the last link, as POSITION:HASH: note it \
                elsewhere and give it later as --since, because one who can change the database could compute all \
                hashes anew. Exits with 1 at a gap.
                """)
        @Option(help: "A link that an earlier check printed, which must still be in the chain.", valueName: "link")
        var since: String?
        @OptionGroup var output: OutputOptions
        @OptionGroup(topic: "settings") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            let chain = EventChain(database: stores.database, clock: SystemClock())
            var trusted: EventChain.Link?
            if let since {
                guard let link = EventChain.Link(since) else {
                    throw CommandFailure("--since: must be POSITION:HASH, as an earlier check printed", .usage)
                }
                trusted = link
            }
            switch try await chain.verify(trusted: trusted) {
            case .whole(let events, let end):
                output.print(
                    .members([
                        "events": .integer(events), "position": .integer(end.position), "link": .string(end.text),
                    ]))
            case .broken(let position, let reason):
                throw CommandFailure("the chain of events is broken at position \(position): \(reason)")
            }
        }
    }
}
