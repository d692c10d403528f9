import Audit
import JSON
import Logging
import Storage

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
