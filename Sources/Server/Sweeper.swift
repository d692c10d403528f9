import Authentication
import Directory
import Federation
import Logging
import Storage
import Values

/// Deletes expired rows, users whose deletion is due, and clients, merchants and issuers that are being deleted, in
/// small batches.
struct Sweeper: BackgroundService {
    let retention: Retention
    let deletion: UserDeletion
    let clients: Clients
    let merchants: Merchants
    let issuers: TrustedIssuers
    let clock: any WallClock
    let logger: Logger

    private static let interval: Duration = .seconds(15)
    /// Pause between two batches of a backlog, so that requests are served in between.
    private static let breath: Duration = .milliseconds(5)
    /// So few that a request that waits for a batch waits for a millisecond or two.
    private static let batch = 100
    /// What is deleted of one kind of owner between two pauses.
    private static let budget = BulkErasure.Budget(batches: 2)

    func run(until stop: StopSignal) async {
        await stop.cancelling {
            while !Task.isCancelled {
                let next = ContinuousClock.now + Self.interval
                var sweep = await round(retention.rules)
                var hasMore = await deleteOwners()
                // A backlog is worked off quickly, but for a limited time, so that the other rules get their turn.
                while !sweep.behind.isEmpty || hasMore, !Task.isCancelled, ContinuousClock.now < next {
                    try? await Task.sleep(for: Self.breath)
                    sweep = await round(sweep.behind)
                    if hasMore { hasMore = await deleteOwners() }
                }
                try? await Task.sleep(until: next, clock: .continuous)
            }
        }
    }

    private func round(_ rules: [RetentionRule]) async -> Retention.Sweep {
        let sweep = await retention.sweep(rules, at: clock.now, batch: Self.batch)
        if sweep.gone > 0 { logger.debug("swept", metadata: ["rows": "\(sweep.gone)"]) }
        // If the database is away, all of them fail alike: log one line.
        let failures = Dictionary(grouping: sweep.failures) { String(reflecting: $0.error) }
        for (error, failed) in failures {
            logger.error(
                "sweep failed",
                metadata: ["rules": .array(failed.map { "\($0.rule.name)" }), "error": "\(error)"])
        }
        return sweep
    }

    /// Returns whether there may be more to delete.
    private func deleteOwners() async -> Bool {
        let hasMoreUsers = await deleteUsers()
        let hasMoreClients = await finish("client") { try await clients.finishDeletions(within: Self.budget) }
        let hasMoreMerchants = await finish("merchant") { try await merchants.finishDeletions(within: Self.budget) }
        let hasMoreIssuers = await finish("issuer") { try await issuers.finishDeletions(within: Self.budget) }
        return hasMoreUsers || hasMoreClients || hasMoreMerchants || hasMoreIssuers
    }

    private func finish(_ kind: String, _ deletions: () async throws -> DeletionRound) async -> Bool {
        do {
            let round = try await deletions()
            if round.gone > 0 { logger.info("\(kind)s deleted", metadata: ["count": "\(round.gone)"]) }
            for (owner, error) in round.failures {
                logger.error(
                    "\(kind) not deleted", metadata: [kind: "\(owner)", "error": "\(String(reflecting: error))"])
            }
            return round.isBehind
        } catch {
            logger.error("\(kind)s not deleted", metadata: ["error": "\(String(reflecting: error))"])
            return false
        }
    }

    /// Deletes users whose deletion is due. Returns whether there may be more.
    private func deleteUsers() async -> Bool {
        do {
            let round = try await deletion.deleteDue(at: clock.now, within: Self.budget)
            if round.gone > 0 { logger.info("users deleted", metadata: ["count": "\(round.gone)"]) }
            for (user, error) in round.failures {
                logger.error(
                    "user not deleted",
                    metadata: ["account": "\(user)", "error": "\(String(reflecting: error))"])
            }
            return round.isBehind
        } catch {
            logger.error("users not deleted", metadata: ["error": "\(String(reflecting: error))"])
            return false
        }
    }
}
