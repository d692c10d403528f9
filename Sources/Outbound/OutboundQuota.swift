import Synchronization
import Values

/// The quotas of requests to other servers: for each purpose, within it for each requester, and within that for each of
/// its parts.
///
/// One time is kept for each requester (generic cell rate algorithm). When there are too many requesters, those that
/// asked longest ago are forgotten; the total over all requesters is counted separately and never forgotten.
final class OutboundQuota: Sendable {
    fileprivate struct Requester: Hashable {
        enum Kind: Hashable {
            /// All requesters together.
            case all
            case one(String)
            /// Many requesters, for example a merchant's clients.
            case share(String)
            case part(String, of: String)
            /// A site of IPv6, which has many parts (`IPAddress.site`).
            case site(String, of: String)
            /// A part, over all requesters.
            case commonPart(String)
        }

        let purpose: OutboundPurpose
        let kind: Kind

        var mostAtOnce: Int {
            switch kind {
            case .all: purpose.mostAtOnce
            case .one, .site: purpose.mostForOne
            case .share, .commonPart: purpose.mostForShare
            case .part: purpose.mostForPart
            }
        }

        var rate: OutboundPurpose.Rate? {
            switch kind {
            case .all: purpose.wholeRate
            case .one: purpose.rate
            case .share: purpose.shareRate
            case .part: purpose.partRate
            case .site: purpose.partRate?.times(4)
            case .commonPart: purpose.commonPartRate
            }
        }
    }

    fileprivate struct State {
        var underWay: [Requester: Int] = [:]
        var recent: [Requester: Timestamp] = [:]
        var earlier: [Requester: Timestamp] = [:]

        /// When everything charged to `requester` has expired. A time beyond a full burst means that the clock was set
        /// back; then it counts as now, so that the old time is not waited for.
        func fullAt(_ requester: Requester, at now: Timestamp) -> Timestamp {
            guard let rate = requester.rate, let known = recent[requester] ?? earlier[requester] else { return now }
            return known <= now + rate.measure ? max(known, now) : now
        }
    }

    /// Two halves share this limit; when the newer one is full, the older one is dropped.
    fileprivate static let mostRemembered = 4096

    private let clock: any WallClock
    private let state = Mutex(State())

    init(clock: any WallClock) { self.clock = clock }

    /// How many requests are running.
    var underWay: Int {
        state.withLock { state in state.underWay.reduce(0) { $0 + ($1.key.kind == .all ? $1.value : 0) } }
    }

    /// Does `work`, which asks for `purpose` on behalf of `name`, of `share`, and its `part`, unless too many are
    /// running or were made recently. However `work` ends, its slot is free again.
    func ask<Value: Sendable>(
        for purpose: OutboundPurpose, by name: String, of share: String? = nil, part: String? = nil,
        _ work: () async throws -> Value
    ) async throws -> Value {
        var kinds: [Requester.Kind] = [.all, .one(name)]
        if let share { kinds.append(.share(share)) }
        if let part {
            kinds.append(.part(part, of: name))
            if purpose.commonPartRate != nil {
                // For a browser that asks for many clients' objects, and for one with the addresses of a whole site.
                kinds.append(.commonPart(part))
                if let site = IPAddress.site(of: part) { kinds.append(.site(site, of: name)) }
            }
        }
        let requesters = kinds.map { Requester(purpose: purpose, kind: $0) }
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
        if requester.kind != .all, recent[requester] == nil, recent.count >= OutboundQuota.mostRemembered / 2 {
            // Keep the purposes' totals, which are few.
            let whole = recent.merging(earlier) { recent, _ in recent }.filter { $0.key.kind == .all }
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

    /// Whether one more fits beside those that expire at `fullAt`.
    fileprivate func takes(_ fullAt: Timestamp, at now: Timestamp) -> Bool { fullAt + refill <= now + measure }
}
