import Synchronization
import Values

/// The quotas of requests to other servers: for each purpose, within it for each requester, and within that for each of
/// its parts.
///
/// One time is kept for each requester (generic cell rate algorithm). When there are too many requesters, those who
/// asked longest ago are forgotten; the total over all requesters is counted separately and never forgotten.
final class OutboundQuota: Sendable {
    fileprivate struct Requester: Hashable {
        let purpose: OutboundPurpose
        /// Nil for all requesters together.
        var name: String?
        /// Nil for all parts of the requester together. Without a requester, the part of all of them.
        var part: String?
        /// Whether it is a share, of many requesters.
        var isShare = false

        /// Whether the part is a site of IPv6, which has many parts (`IPAddress.site`).
        var isSite = false

        /// Whether it is all of a purpose.
        var isWhole: Bool { name == nil && part == nil }

        var mostAtOnce: Int {
            guard !isShare else { return purpose.mostForShare }
            guard name != nil else { return part == nil ? purpose.mostAtOnce : purpose.mostForShare }
            return part == nil || isSite ? purpose.mostForOne : purpose.mostForPart
        }

        var rate: OutboundPurpose.Rate? {
            guard !isShare else { return purpose.shareRate }
            guard name != nil else { return part == nil ? purpose.wholeRate : purpose.commonPartRate }
            return part == nil ? purpose.rate : isSite ? purpose.partRate?.times(4) : purpose.partRate
        }
    }

    fileprivate struct State {
        var underWay: [Requester: Int] = [:]
        var recent: [Requester: Timestamp] = [:]
        var earlier: [Requester: Timestamp] = [:]

        /// When everything charged to `requester` is forgotten. A time beyond a full burst means that the clock was set
        /// back; then it is now, so that nobody waits.
        func fullAt(_ requester: Requester, at now: Timestamp) -> Timestamp {
            guard let rate = requester.rate, let known = recent[requester] ?? earlier[requester] else { return now }
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
        state.withLock { state in state.underWay.reduce(0) { $0 + ($1.key.isWhole ? $1.value : 0) } }
    }

    /// Does `work`, which asks for `purpose` by `name`, of `share`, and its `part`, unless too many are under way
    /// or were made recently. However `work` ends, its slot is free again.
    func ask<Value: Sendable>(
        for purpose: OutboundPurpose, by name: String, of share: String? = nil, part: String? = nil,
        _ work: () async throws -> Value
    ) async throws -> Value {
        var requesters = [Requester(purpose: purpose), Requester(purpose: purpose, name: name)]
        if let share { requesters.append(Requester(purpose: purpose, name: share, isShare: true)) }
        if let part {
            requesters.append(Requester(purpose: purpose, name: name, part: part))
            if purpose.commonPartRate != nil {
                // A browser that asks for ever other clients' objects, and one that has a whole site's addresses.
                requesters.append(Requester(purpose: purpose, part: part))
                if let site = IPAddress.site(of: part) {
                    requesters.append(Requester(purpose: purpose, name: name, part: site, isSite: true))
                }
            }
        }
        let now = clock.now
        try state.withLock { state throws(OutboundError) in
            for requester in requesters {
                guard state.underWay[requester, default: 0] < requester.mostAtOnce else { throw .tooMany }
            }
            for requester in requesters {
                guard requester.rate?.takes(state.fullAt(requester, at: now), at: now) ?? true else { throw .tooOften }
            }
            for requester in requesters {
                state.charge(requester, at: now)
                state.underWay[requester, default: 0] += 1
            }
        }
        defer { state.withLock { state in for requester in requesters { state.leave(requester) } } }
        return try await work()
    }
}

extension OutboundQuota.State {
    fileprivate mutating func charge(_ requester: OutboundQuota.Requester, at now: Timestamp) {
        guard let rate = requester.rate else { return }
        let fullAt = fullAt(requester, at: now) + rate.refill
        if !requester.isWhole, recent[requester] == nil, recent.count >= OutboundQuota.mostRemembered / 2 {
            // Keep the purposes' totals, which are few.
            let whole = recent.merging(earlier) { recent, _ in recent }.filter { $0.key.isWhole }
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
