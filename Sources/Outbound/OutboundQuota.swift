import Synchronization
import Values

/// The quotas of requests to other servers: for each purpose, and within it for each requester.
///
/// One time is kept for each requester (generic cell rate algorithm). When there are too many requesters, those who
/// asked longest ago are forgotten; the total over all requesters is counted separately and never forgotten.
final class OutboundQuota: Sendable {
    fileprivate struct Requester: Hashable {
        let purpose: OutboundPurpose
        /// Nil for all requesters together.
        let name: String?
    }

    fileprivate struct State {
        var underWay: [Requester: Int] = [:]
        var recent: [Requester: Timestamp] = [:]
        var earlier: [Requester: Timestamp] = [:]

        /// When everything charged to `requester` is forgotten. A time beyond a full burst means that the clock was set
        /// back; then it is now, so that nobody waits.
        func fullAt(_ requester: Requester, _ rate: OutboundPurpose.Rate, at now: Timestamp) -> Timestamp {
            let known = recent[requester] ?? earlier[requester] ?? now
            return known <= now + rate.measure ? max(known, now) : now
        }
    }

    /// Two halves share this number; when the newer one is full, the older one is forgotten.
    fileprivate static let mostRemembered = 4096

    private let clock: any WallClock
    private let state = Mutex(State())

    init(clock: any WallClock) { self.clock = clock }

    /// How many requests are under way.
    var underWay: Int {
        state.withLock { state in state.underWay.reduce(0) { $0 + ($1.key.name == nil ? $1.value : 0) } }
    }

    /// Does `work`, which asks for `purpose` by `name`, unless too many requests are under way or were made recently.
    /// However `work` ends, its slot is free again.
    func ask<Value: Sendable>(
        for purpose: OutboundPurpose, by name: String, _ work: () async throws -> Value
    ) async throws -> Value {
        let (one, all) = (Requester(purpose: purpose, name: name), Requester(purpose: purpose, name: nil))
        let now = clock.now
        try state.withLock { state throws(OutboundError) in
            guard state.underWay[all, default: 0] < purpose.mostAtOnce,
                state.underWay[one, default: 0] < purpose.mostForOne
            else { throw .tooMany }
            if let own = purpose.rate, let whole = purpose.wholeRate {
                guard own.takes(state.fullAt(one, own, at: now), at: now),
                    whole.takes(state.fullAt(all, whole, at: now), at: now)
                else {
                    throw .tooOften
                }
                state.charge(one, own, at: now)
                state.charge(all, whole, at: now)
            }
            state.underWay[one, default: 0] += 1
            state.underWay[all, default: 0] += 1
        }
        defer {
            state.withLock { state in
                state.leave(one)
                state.leave(all)
            }
        }
        return try await work()
    }
}

extension OutboundQuota.State {
    fileprivate mutating func charge(
        _ requester: OutboundQuota.Requester, _ rate: OutboundPurpose.Rate, at now: Timestamp
    ) {
        let fullAt = fullAt(requester, rate, at: now) + rate.refill
        if requester.name != nil, recent[requester] == nil, recent.count >= OutboundQuota.mostRemembered / 2 {
            // Keep the purposes' totals, which are few.
            let whole = recent.merging(earlier) { recent, _ in recent }.filter { $0.key.name == nil }
            earlier = recent
            recent = whole
        }
        recent[requester] = fullAt
    }

    fileprivate mutating func leave(_ requester: OutboundQuota.Requester) {
        let count = underWay[requester, default: 1] - 1
        underWay[requester] = count > 0 ? count : nil
    }
}

extension OutboundPurpose.Rate {
    fileprivate var measure: Duration { .milliseconds(refill.milliseconds * burst) }

    /// Whether one more fits beside those that are forgotten at `fullAt`.
    fileprivate func takes(_ fullAt: Timestamp, at now: Timestamp) -> Bool { fullAt + refill <= now + measure }
}
