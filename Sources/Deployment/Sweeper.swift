import Logging
import OAuth
import ServiceLifecycle
import Values

/// Forgets what has expired, a little at a time.
struct Sweeper: Service {
    let retention: Retention
    let clock: any WallClock
    let logger: Logger

    private static let interval: Duration = .seconds(15)
    /// Between two batches of a backlog, so that issuance comes between.
    private static let breath: Duration = .milliseconds(20)

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                let next = ContinuousClock.now + Self.interval
                var sweep = await round(Retention.Rule.allCases)
                // A backlog is worked off quickly, but not so long that the other rules would never have their turn.
                while !sweep.behind.isEmpty, ContinuousClock.now < next {
                    try await Task.sleep(for: Self.breath)
                    sweep = await round(sweep.behind)
                }
                try await Task.sleep(until: next, clock: .continuous)
            }
        }
    }

    private func round(_ rules: [Retention.Rule]) async -> Retention.Sweep {
        let sweep = await retention.sweep(rules, at: clock.now)
        if sweep.gone > 0 { logger.debug("swept", metadata: ["rows": "\(sweep.gone)"]) }
        for (rule, error) in sweep.failures {
            logger.error(
                "sweep failed", metadata: ["rule": "\(rule.rawValue)", "error": "\(String(reflecting: error))"])
        }
        return sweep
    }
}
