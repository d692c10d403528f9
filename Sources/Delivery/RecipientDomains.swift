import Synchronization

/// Keeps places of each share, and of all, for mails to domains that took several quickly in a row.
///
/// Anyone can have mails sent to their own addresses, and a mail server may keep us waiting until the recipient's has
/// answered. These mails must not take all places, or other users' codes would arrive too late.
final class RecipientDomains: Sendable {
    /// How quickly a domain took the last mails.
    fileprivate enum Pace {
        /// This many quick ones in a row.
        case quick(Int)
        case slow

        var isSlow: Bool { if case .slow = self { true } else { false } }
        var isKnownQuick: Bool { if case .quick(let many) = self { many >= DeliveryLimits.quickInARow } else { false } }
    }

    /// A mail on its way.
    fileprivate struct Sending {
        let domain: String
        let pace: Pace
        let began: ContinuousClock.Instant

        /// A mail that takes long does not count as a quick domain's.
        var isOfQuick: Bool { pace.isKnownQuick && .now - began < DeliveryLimits.quick }
        var isNew: Bool { .now - began < DeliveryLimits.patience }
    }

    /// Mails that wait for the same places: those of a share to one quick domain, or to all others.
    fileprivate struct Line: Hashable {
        let share: Delivery.Share
        let domain: String?
    }

    fileprivate struct State {
        var paces: [String: Pace] = [:]
        var underWay: [Delivery.Share: [Int: Sending]] = [:]
        /// How many mails have been put off since the line last had room.
        var putOff: [Line: Int] = [:]
        /// The shares with a mail that waits for a running one.
        var waiting: Set<Delivery.Share> = []
        var last = 0
    }

    /// How many domains are remembered; beyond that all are forgotten.
    private static let most = 10_000
    private let state = Mutex(State())

    /// Does `work` for a mailbox of `domain`. Throws `Undeliverable.crowded` when others have occupied the places for
    /// these domains for a while, and `inLine` when they have just taken them.
    func send(to domain: String, of share: Delivery.Share, _ work: () async throws -> Void) async throws {
        let domain = domain.lowercased()
        let number = try await enter(domain, share)
        let began = ContinuousClock.now
        do {
            try await work()
            leave(domain, share, number, after: .now - began, tookIt: true)
        } catch {
            leave(domain, share, number, after: .now - began, tookIt: false)
            throw error
        }
    }

    /// A waiting mail occupies a place of its share, so one per share waits, few in all, and only for a moment. The
    /// others are put off: many codes may go to one quick domain, and must not delay those of others.
    private func enter(_ domain: String, _ share: Delivery.Share) async throws -> Int {
        if let number = try state.withLock({ try $0.enter(domain, share) }) { return number }
        guard state.withLock({ $0.waits(share) }) else { throw inLine(domain, share) }
        defer { state.withLock { _ = $0.waiting.remove(share) } }
        let deadline = ContinuousClock.now + DeliveryLimits.patience
        while ContinuousClock.now < deadline {
            try await Task.sleep(for: DeliveryLimits.look)
            if let number = try state.withLock({ try $0.enter(domain, share) }) { return number }
        }
        throw inLine(domain, share)
    }

    private func inLine(_ domain: String, _ share: Delivery.Share) -> Undeliverable {
        .inLine(behind: state.withLock { $0.putOff(domain, share) })
    }

    private func leave(
        _ domain: String, _ share: Delivery.Share, _ number: Int, after time: Duration, tookIt: Bool
    ) {
        state.withLock { state in
            state.underWay[share]?[number] = nil
            if state.underWay[share]?.isEmpty == true { state.underWay[share] = nil }
            if state.paces.count >= Self.most { state.paces = [:] }
            if state.putOff.count >= Self.most { state.putOff = [:] }
            if time >= DeliveryLimits.quick {
                state.paces[domain] = time >= DeliveryLimits.slow ? .slow : nil
            } else if tookIt {
                let before = if case .quick(let many) = state.paces[domain] { many } else { 0 }
                state.paces[domain] = .quick(min(before + 1, DeliveryLimits.quickInARow))
            }
        }
    }
}

extension RecipientDomains.State {
    private func line(_ domain: String, _ share: Delivery.Share) -> RecipientDomains.Line {
        .init(share: share, domain: paces[domain]?.isKnownQuick == true ? domain : nil)
    }

    /// Counts a mail that has been put off, and returns how many have been in its line.
    fileprivate mutating func putOff(_ domain: String, _ share: Delivery.Share) -> Int {
        putOff[line(domain, share), default: 0] += 1
        return putOff[line(domain, share), default: 0]
    }

    /// Notes that a mail of `share` waits; false when it may not.
    fileprivate mutating func waits(_ share: Delivery.Share) -> Bool {
        waiting.count < DeliveryLimits.mostWaiting && waiting.insert(share).inserted
    }

    /// The number of a mail that may be sent; nil for one that must wait a moment.
    fileprivate mutating func enter(_ domain: String, _ share: Delivery.Share) throws -> Int? {
        let pace = paces[domain] ?? .quick(0)
        let all = (underWay[share] ?? [:]).values
        // A quick domain may turn slow at any moment, so none gets all places.
        let before = pace.isKnownQuick ? all.filter { $0.domain == domain } : all.filter { !$0.isOfQuick }
        let ofAll = pace.isKnownQuick ? [] : underWay.values.flatMap(\.values).filter { !$0.isOfQuick }
        let isFull =
            before.count >= DeliveryLimits.mostToUnknownDomains
            || pace.isSlow && before.count { $0.pace.isSlow } >= DeliveryLimits.mostToSlowDomains
        let areAllFull =
            ofAll.count >= DeliveryLimits.mostToUnknownDomainsInAll + (before.isEmpty ? 1 : 0)
            || pace.isSlow && ofAll.count { $0.pace.isSlow } >= DeliveryLimits.mostToSlowDomainsInAll
        // If the mail server is slow for all, there is no quick domain to keep places for.
        guard !(isFull || areAllFull) || !paces.values.contains(where: \.isKnownQuick) else {
            // Mails that take long are not waited for.
            guard (isFull ? before : ofAll).contains(where: \.isNew) else {
                // The wait of others says nothing about this line.
                guard isFull else { throw Undeliverable.busy }
                throw Undeliverable.crowded(failing: putOff(domain, share))
            }
            return nil
        }
        if before.count + 1 < DeliveryLimits.mostToUnknownDomains { putOff[line(domain, share)] = nil }
        last += 1
        underWay[share, default: [:]][last] = .init(domain: domain, pace: pace, began: .now)
        return last
    }
}
