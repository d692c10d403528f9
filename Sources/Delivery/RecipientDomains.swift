import Synchronization

/// Keeps places of a share for mails to domains that took the last one at once.
///
/// Anyone can have mails sent to addresses of their own, and a mail server may keep us waiting until the recipient's has
/// answered. Such mails must not take all places, or nobody's code would arrive while it is good.
final class RecipientDomains: Sendable {
    /// How a domain took the last mail. Unknown is what nobody has written to since the start.
    fileprivate enum Pace { case quick, unknown, slow }

    fileprivate struct Visit {
        let pace: Pace
        let began: ContinuousClock.Instant
    }

    fileprivate struct State {
        var paces: [String: Pace] = [:]
        var visits: [Delivery.Share: [Int: Visit]] = [:]
        var last = 0
    }

    /// How many domains are remembered; with more, all are unknown again.
    private static let most = 10_000
    private let state = Mutex(State())

    /// Does `work` for a mailbox of `domain`. Throws `Undeliverable.busy` when those before it have had the places of
    /// such domains for a while.
    func visit(_ domain: String, of share: Delivery.Share, _ work: () async throws -> Void) async throws {
        let domain = domain.lowercased()
        var entered: Int?
        while entered == nil {
            entered = try state.withLock { try $0.enter(domain, share) }
            if entered == nil { try await Task.sleep(for: DeliveryLimits.look) }
        }
        let began = ContinuousClock.now
        do {
            try await work()
            leave(domain, share, entered, after: .now - began, tookIt: true)
        } catch {
            leave(domain, share, entered, after: .now - began, tookIt: false)
            throw error
        }
    }

    private func leave(
        _ domain: String, _ share: Delivery.Share, _ visit: Int?, after time: Duration, tookIt: Bool
    ) {
        state.withLock { state in
            if let visit { state.visits[share]?[visit] = nil }
            if state.visits[share]?.isEmpty == true { state.visits[share] = nil }
            if state.paces.count >= Self.most { state.paces = [:] }
            if time >= DeliveryLimits.slow {
                state.paces[domain] = .slow
            } else if time >= DeliveryLimits.quick {
                state.paces[domain] = nil
            } else if tookIt {
                state.paces[domain] = .quick
            }
        }
    }
}

extension RecipientDomains.State {
    /// The number of a visit that may begin; nil for one that has to wait a moment.
    fileprivate mutating func enter(_ domain: String, _ share: Delivery.Share) throws -> Int? {
        let pace = paces[domain] ?? .unknown
        let others = (visits[share] ?? [:]).values
        let isFull =
            switch pace {
            case .quick: false
            case .unknown: others.count { $0.pace != .quick } >= DeliveryLimits.mostToUnknownDomains
            case .slow:
                others.count { $0.pace == .slow } >= DeliveryLimits.mostToSlowDomains
                    || others.count { $0.pace != .quick } >= DeliveryLimits.mostToUnknownDomains
            }
        guard !isFull else {
            // Whoever waits has a place of the share meanwhile, so nobody waits for those that take long.
            guard others.contains(where: { $0.pace != .quick && .now - $0.began < DeliveryLimits.patience }) else {
                throw Undeliverable.busy
            }
            return nil
        }
        last += 1
        visits[share, default: [:]][last] = .init(pace: pace, began: .now)
        return last
    }
}
