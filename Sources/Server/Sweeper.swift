import Authentication
import Logging
import Storage
import Values

/// Deletes expired rows and users whose deletion is due, a little at a time.
struct Sweeper: BackgroundService {
    let retention: Retention
    let deletion: Deletion
    let clock: any WallClock
    let logger: Logger

    private static let interval: Duration = .seconds(15)
    /// Pause between two batches of a backlog, so that requests are served in between.
    private static let breath: Duration = .milliseconds(20)

    func run(until stop: StopSignal) async {
        await stop.cancelling {
            while !Task.isCancelled {
                let next = ContinuousClock.now + Self.interval
                var sweep = await round(retention.rules)
                var hasMoreAccounts = await deleteAccounts()
                // A backlog is worked off quickly, but not for so long that the other rules would never have their
                // turn.
                while !sweep.behind.isEmpty || hasMoreAccounts, !Task.isCancelled, ContinuousClock.now < next {
                    try? await Task.sleep(for: Self.breath)
                    sweep = await round(sweep.behind)
                    if hasMoreAccounts { hasMoreAccounts = await deleteAccounts() }
                }
                try? await Task.sleep(until: next, clock: .continuous)
            }
        }
    }

    private func round(_ rules: [RetentionRule]) async -> Retention.Sweep {
        let sweep = await retention.sweep(rules, at: clock.now)
        if sweep.gone > 0 { logger.debug("swept", metadata: ["rows": "\(sweep.gone)"]) }
        for (rule, error) in sweep.failures {
            logger.error(
                "sweep failed", metadata: ["rule": "\(rule.name)", "error": "\(String(reflecting: error))"])
        }
        return sweep
    }

    /// Deletes the users that are due. Returns whether there may be more.
    private func deleteAccounts() async -> Bool {
        do {
            let round = try await deletion.deleteDue(at: clock.now)
            if round.gone > 0 { logger.info("accounts deleted", metadata: ["count": "\(round.gone)"]) }
            for (user, error) in round.failures {
                logger.error(
                    "account not deleted",
                    metadata: ["account": "\(user)", "error": "\(String(reflecting: error))"])
            }
            return round.isBehind
        } catch {
            logger.error("accounts not deleted", metadata: ["error": "\(String(reflecting: error))"])
            return false
        }
    }
}
