import Cryptography
import Delivery
import Directory
import Foundation
import HTTPSupport
import Keys
import OAuth
import Pages
import Storage
import TestSupport
import Testing
import Values

@testable import Server

/// The lists of users' events and of a user's deletion in docs/architecture.md, compared to the program.
@Suite struct UserEventListTests {
    @Test("The page docs/architecture.md lists what each user event triggers, in order")
    func events() async throws {
        try await withSubscribers { subscribers in
            var lines: [String] = []
            for kind in UserEvent.Kind.allCases {
                let reactions = Self.reactions(to: kind, subscribers)
                #expect(!reactions.isEmpty, "nothing acts on \(kind)")
                lines.append("| `\(kind)` | \(reactions.joined(separator: "<br>")) |")
            }
            try Self.expect(lines)
        }
    }

    @Test("The page docs/architecture.md lists what happens when a user is deleted")
    func deletion() async throws {
        try await withSubscribers { subscribers in
            func tables(_ isOne: (StoredTable.Erasure) -> Bool) -> String {
                StoredTable.all.filter { isOne($0.ofUser) }.map { "`\($0.name)`" }.joined(separator: ", ")
            }
            let early = tables {
                switch $0 {
                case .batches, .steps, .withParent: true
                case .nothing, .cascade, .expiry, .withOwner: false
                }
            }
            let along = tables { if case .cascade = $0 { true } else { false } }
            let late = tables { if case .expiry = $0 { true } else { false } }
            var lines = ["1. When the user asks, `deletion_due_at` is set, and `accessRevoked` is said:"]
            lines += Self.reactions(to: .accessRevoked, subscribers).map { "   * \($0)" }
            lines.append("2. After the time of grace, rows that may be many go in batches: \(early).")
            lines.append("3. In one last transaction `deleted` is said, while the row is still there:")
            lines += Self.reactions(to: .deleted, subscribers).map { "   * \($0)" }
            lines.append("4. The row of `users` goes, and with it by foreign key: \(along).")
            lines.append("5. What keeps the id that now leads nowhere goes when it expires: \(late).")
            try Self.expect(lines)
        }
    }

    private static func reactions(to kind: UserEvent.Kind, _ subscribers: [UserEvents.Subscriber]) -> [String] {
        subscribers.flatMap { subscriber in
            subscriber.reactions.filter { $0.kind == kind }.map { "\(subscriber.name): \($0.summary)" }
        }
    }

    private static func expect(_ lines: [String]) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/architecture.md"), encoding: .utf8)
        let list = lines.joined(separator: "\n")
        #expect(page.contains(list), "docs/architecture.md should have:\n\(list)")
    }

    private func withSubscribers(_ work: ([UserEvents.Subscriber]) throws -> Void) async throws {
        let (clock, random) = (ManualClock(), SystemRandom())
        let database = try await Backend.sqlite.open()
        let outbox = Outbox(
            database: database, seal: Seal(masterKey: .random(from: random), random: random), clock: clock,
            random: random, logger: RecordedLog().logger)
        let mail = MailComposer(
            templates: try Templates(site: "spindle.test"), outbox: outbox,
            site: Site(issuer: "http://spindle.test", origin: "http://spindle.test"))
        try work(UserEvents.subscribers(.unheard, mail))
        await database.close()
    }
}
