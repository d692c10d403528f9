import Keys
import Logging
import Storage
import Values

extension Outbox {
    /// The outcome of an attempt.
    enum Outcome: Sendable {
        case delivered
        /// To be tried again.
        case postponed
        /// Not attempted: its receiver is busy, or has failed.
        case held(for: Duration)
        /// Refused permanently, or expired.
        case givenUp
        /// Unknown: to be tried again.
        case unknown
    }

    /// Makes one attempt, and stores its result. If the result cannot be stored, there is another attempt when the
    /// lease ends.
    func deliver(_ claim: Lease, by carrier: any Transport) async -> Outcome {
        do {
            let outcome = await attempt(claim, by: carrier)
            switch outcome {
            case .delivered, .givenUp: try await remove(claim)
            case .held(let pause): try await hold(claim, until: clock.now + pause)
            case .unknown: try await postpone(claim, until: clock.now)
            case .postponed:
                try await postpone(claim, until: clock.now + Backoff.pause(after: claim.attempt, random: random))
            }
            return outcome
        } catch {
            log(.error, "the outcome of a delivery could not be stored", claim, "\(String(reflecting: error))")
            return .unknown
        }
    }

    private func attempt(_ claim: Lease, by carrier: any Transport) async -> Outcome {
        guard clock.now < claim.expiresAt else {
            log(.warning, "delivery given up", claim, "it is of no use any more")
            return .givenUp
        }
        do {
            try await carrier.deliver(
                seal.open(claim.sealedContent, .delivery, row: claim.id.text), claim.messageID,
                of: claim.share)
            log(.debug, "delivered", claim, "taken")
            return .delivered
        } catch Undeliverable.refused(let reason) {
            log(.warning, "delivery given up", claim, reason)
            return .givenUp
        } catch Undeliverable.temporary(let reason) {
            log(.warning, "delivery postponed", claim, reason)
            return .postponed
        } catch Undeliverable.busy {
            return .held(for: Backoff.moment)
        } catch Undeliverable.inLine(let behind) {
            return .held(for: Backoff.turn(behind: behind, left: claim.expiresAt - clock.now))
        } catch Undeliverable.resting(let failures) {
            // Deliveries to a receiver that is down must not be retried every few seconds.
            return .held(for: Backoff.pause(after: failures, random: random))
        } catch Undeliverable.crowded(let failing) {
            return .held(for: Backoff.pause(among: failing, left: claim.expiresAt - clock.now))
        } catch is CancellationError {
            // The server stops, so the next node makes the attempt.
            return .unknown
        } catch {
            log(.error, "delivery failed", claim, String(reflecting: error))
            return .postponed
        }
    }

    private func log(_ level: Logger.Level, _ message: String, _ claim: Lease, _ reason: String) {
        logger.log(
            level: level, message,
            metadata: [
                "kind": "\(claim.kind.rawValue)", "delivery": "\(claim.id)", "attempt": "\(claim.attempt)",
                "reason": "\(reason)",
            ])
    }
}
