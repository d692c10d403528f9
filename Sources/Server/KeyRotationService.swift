import Directory
import Keys
import Logging
import OAuth
import Values

/// Rotates the signing keys on schedule.
struct KeyRotationService: BackgroundService {
    let keys: StoredSigningKeys
    let clients: Clients
    let period: Duration?
    let clock: any WallClock
    let logger: Logger

    private static let interval: Duration = .seconds(600)

    func run(until stop: StopSignal) async {
        await stop.cancelling {
            while !Task.isCancelled {
                await rotate()
                try? await Task.sleep(for: Self.interval)
            }
        }
    }

    private func rotate() async {
        do {
            for change in try await keys.rotate(
                .init(period: period), of: clients.algorithmsInUse(), at: clock.now)
            {
                logger.notice("signing key rotated", metadata: ["change": "\(change)"])
            }
        } catch {
            // The next round tries again: a key is made a day before it is needed.
            logger.error("signing keys not rotated", metadata: ["error": "\(String(reflecting: error))"])
        }
    }
}
