import Cryptography
import Keys
import Mail
import Storage
import Synchronization
import TestSupport
import Values

@testable import Delivery

/// An outbox over its own database.
struct DeliveryFixture {
    let database: any Database
    let masterKey = MasterKey.random(from: SystemRandom())
    let clock = ManualClock()
    let log = RecordedLog()
    let outbox: Outbox

    static let letter = MailMessage(
        recipient: "ada@example.com", subject: "Your code", text: "Code 123456", html: "<p>Code 123456</p>")

    init(_ backend: Backend) async throws {
        database = try await backend.open()
        _ = try await MasterKeySource.given(masterKey).masterKey(for: database, random: SystemRandom())
        outbox = Self.outbox(database, masterKey, clock, log)
    }

    /// Another node on the same database.
    func node() -> Outbox { Self.outbox(database, masterKey, clock, log) }

    private static func outbox(
        _ database: any Database, _ masterKey: MasterKey, _ clock: ManualClock, _ log: RecordedLog
    ) -> Outbox {
        Outbox(
            database: database, seal: Seal(masterKey: masterKey, random: SystemRandom()), clock: clock,
            random: SystemRandom(), logger: log.logger)
    }

    struct Waiting: Equatable {
        let attempts: Int
        let dueIn: Duration
    }

    /// The deliveries that wait.
    func waiting() async throws -> [Waiting] {
        let now = clock.now
        return try await database.read { db in
            try db.rows("SELECT attempts, due_at FROM deliveries WHERE failed_at IS NULL ORDER BY id").map { row in
                Waiting(
                    attempts: try row.get("attempts"), dueIn: try row.get("due_at", as: Timestamp.self) - now)
            }
        }
    }
}

/// A transport that does what the test says, and counts.
final class TransportDouble: Transport {
    let kind: Delivery.Kind
    private let act: @Sendable () async throws -> Void
    private let carried = Mutex<[(content: String, messageID: MessageID)]>([])

    init(_ kind: Delivery.Kind = .mail, _ act: @escaping @Sendable () async throws -> Void = {}) {
        self.kind = kind
        self.act = act
    }

    /// The message id of every attempt.
    var messageIDs: [MessageID] { carried.withLock { $0.map(\.messageID) } }
    var contents: [String] { carried.withLock { $0.map(\.content) } }

    func deliver(_ content: String, _ messageID: MessageID, of share: Delivery.Share) async throws {
        carried.withLock { $0.append((content, messageID)) }
        try await act()
    }
}

final class Counter: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

extension Outbox {
    /// The outcomes of the deliveries of a round.
    struct Round: Sendable, Equatable {
        var delivered = 0
        var postponed = 0
        var givenUp = 0
        var held = 0

        mutating func count(_ outcome: Outcome) {
            switch outcome {
            case .delivered: delivered += 1
            case .postponed, .unknown: postponed += 1
            case .givenUp: givenUp += 1
            case .held: held += 1
            }
        }
    }

    /// The work of one node over one transport: delivers all that is due, and returns when nothing is left.
    func deliverDue(by carrier: any Transport) async throws -> Round {
        var round = Round()
        while !Task.isCancelled {
            let claims = try await claim(carrier.kind, DeliveryWorker.room(carrier.kind))
            guard !claims.isEmpty else { break }
            await withTaskGroup(of: Outcome.self) { group in
                for claim in claims { group.addTask { await deliver(claim, by: carrier) } }
                for await outcome in group { round.count(outcome) }
            }
        }
        return round
    }

    /// Queues `message` in its own transaction.
    func post(_ message: MailMessage, usefulFor use: Duration = Outbox.longestUse) async throws {
        let delivery = self.delivery(message, usefulFor: use)
        try await database.write { db in try delivery.store(in: db) }
        nudge()
    }
}
