import Audit
import Delivery
import Directory
import JSON
import Logging
import OpenID
import Storage
import Values

/// Stores what was noted outside transactions, chains the events, and deletes those that are old enough.
struct AuditService: BackgroundService {
    let log: AuditLog
    let chain: EventChain
    let retention: Duration
    /// The settings of this start.
    let configuration: JSON
    let logger: Logger

    private static let interval: Duration = .seconds(1)
    /// How many rounds pass between two looks for old events.
    private static let roundsToShorten = 60

    func run(until stop: StopSignal) async {
        await stop.cancelling {
            await recordStart()
            var round = 0
            while !Task.isCancelled {
                await work(isLast: false, shortening: round % Self.roundsToShorten == 0)
                round += 1
                try? await Task.sleep(for: Self.interval)
            }
        }
        await work(isLast: true, shortening: false)
    }

    private func recordStart() async {
        do {
            try await log.record(
                "server.started", by: Actor(.server),
                after: .object(
                    [.init("version", .string(Spindle.version))]
                        + (configuration.members ?? [])))
        } catch {
            logger.error("the start is no event", metadata: ["error": "\(String(reflecting: error))"])
        }
    }

    private func work(isLast: Bool, shortening: Bool) async {
        do {
            try await log.flush(all: isLast)
            while try await chain.extend() {}
            guard shortening else { return }
            while try await chain.shorten(keeping: retention) {}
        } catch StorageError.conflict {
            // Another server chained the same rows first.
        } catch {
            logger.error("events not stored", metadata: ["error": "\(String(reflecting: error))"])
        }
    }
}

extension Spindle {
    /// The chain, which passes each event of a merchant on to its `events_uri`.
    func eventChain(_ clock: any WallClock) -> EventChain {
        EventChain(database: database, clock: clock) { [outbox = delivery.outbox] events, db in
            let merchants = Set(events.compactMap(\.merchant)).map { Merchant.ID($0) }
            let receivers = try Merchants.receivers(among: merchants, in: db)
            for event in events {
                guard let merchant = event.merchant.map({ Merchant.ID($0) }), receivers.contains(merchant) else {
                    continue
                }
                // Derived from the event, because the transaction may run twice.
                try outbox.delivery(
                    notice: MerchantEvent(event.json, of: merchant).text, usefulFor: Outbox.longestUse,
                    share: Delivery.Share(merchant), topic: Delivery.Topic(noticesAbout: "events \(merchant)"),
                    id: Delivery.ID(event.id.text)
                ).store(in: db)
            }
        }
    }
}
