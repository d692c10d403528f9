import Mail
import Storage

@testable import Delivery

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
