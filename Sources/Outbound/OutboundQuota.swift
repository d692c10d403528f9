import Synchronization
import Values

/// How much is asked of other servers: for each purpose, and within it for each asker.
///
/// Of those who ask too often one moment each is kept (generic cell rate algorithm). What is forgotten when there are too
/// many of them is who asked longest ago; all of them together are counted apart, and never forgotten.
final class OutboundQuota: Sendable {
    fileprivate struct Requester: Hashable {
        let purpose: OutboundPurpose
        /// Nil for everybody together.
        let name: String?
    }

    fileprivate struct State {
        var underWay: [Requester: Int] = [:]
        var recent: [Requester: Timestamp] = [:]
        var earlier: [Requester: Timestamp] = [:]

        /// When all that `asker` was charged is forgotten: now, if that is later than a full measure. Then the clock was
        /// set back, and keeps nobody waiting.
        func fullAt(_ asker: Requester, _ rate: OutboundPurpose.Rate, at now: Timestamp) -> Timestamp {
            let known = recent[asker] ?? earlier[asker] ?? now
            return known <= now + rate.measure ? max(known, now) : now
        }
    }

    /// Of two halves, one of which is forgotten whenever the other is full.
    fileprivate static let mostRemembered = 4096

    private let clock: any WallClock
    private let state = Mutex(State())

    init(clock: any WallClock) { self.clock = clock }

    /// How many questions are under way.
    var underWay: Int {
        state.withLock { state in state.underWay.reduce(0) { $0 + ($1.key.name == nil ? $1.value : 0) } }
    }

    /// Does `work`, which asks for `purpose` by `name`, unless too many are under way or too many were of late. Whatever
    /// ends it, an answer, a time-out or a cancellation, gives its place to the next.
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
        _ asker: OutboundQuota.Requester, _ rate: OutboundPurpose.Rate, at now: Timestamp
    ) {
        let fullAt = fullAt(asker, rate, at: now) + rate.refill
        if asker.name != nil, recent[asker] == nil, recent.count >= OutboundQuota.mostRemembered / 2 {
            // The purposes as a whole are few, and go along.
            let whole = recent.merging(earlier) { recent, _ in recent }.filter { $0.key.name == nil }
            earlier = recent
            recent = whole
        }
        recent[asker] = fullAt
    }

    fileprivate mutating func leave(_ asker: OutboundQuota.Requester) {
        let count = underWay[asker, default: 1] - 1
        underWay[asker] = count > 0 ? count : nil
    }
}

extension OutboundPurpose.Rate {
    fileprivate var measure: Duration { .milliseconds(refill.milliseconds * burst) }

    /// Whether one more fits beside those that are forgotten at `fullAt`.
    fileprivate func takes(_ fullAt: Timestamp, at now: Timestamp) -> Bool { fullAt + refill <= now + measure }
}
