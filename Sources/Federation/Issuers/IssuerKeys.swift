import JOSE
public import Outbound
public import Values

/// The key sets that issuers publish, kept in memory.
///
/// Each is kept as long as its issuer says, within bounds, and fetched by one request at a time however many ask. An
/// outage is survived with the keys of before, yet not for ever: a key that was withdrawn must end some day.
public actor IssuerKeys {
    static let shortestLife: Duration = .minutes(1)
    static let usualLife: Duration = .minutes(5)
    static let longestLife: Duration = .hours(1)
    /// How long keys outlive the last good answer, when there is no other.
    static let longestOutage: Duration = .days(1)
    /// An unknown key is asked for at most this often: anybody can make up a key id.
    static let refetchInterval: Duration = .seconds(10)
    static let mostEntries = 256

    /// There are no keys to be had; why, for the log.
    struct Unavailable: Error, Equatable {
        let reason: String
    }

    private struct Entry {
        var keys: AssertionKeys?
        /// Why the last answer was not good, if it was not.
        var fault = "not fetched yet"
        var freshUntil = Timestamp(milliseconds: 0)
        var goodAt = Timestamp(milliseconds: 0)
        /// When it was last asked for, with whatever success.
        var askedAt: Timestamp?
        var usedAt: Timestamp
        var fetch: Task<Void, Never>?
    }

    private enum Answer: Sendable {
        case keys(AssertionKeys, life: Duration)
        case unusable(String)
    }

    private let outbound: Outbound
    private let clock: any WallClock
    private var entries: [String: Entry] = [:]

    public init(outbound: Outbound, clock: any WallClock) {
        self.outbound = outbound
        self.clock = clock
    }

    /// The keys published at `address`.
    func keys(at address: String) async throws(Unavailable) -> AssertionKeys {
        let now = clock.now
        if let keys = use(address, at: now), let entry = entries[address], now < entry.freshUntil { return keys }
        return try available(await refetched(address, at: now), at: address)
    }

    /// The keys again, after a token named one that was not among them; asked for anew unless that was done just now.
    func keysAnew(at address: String) async throws(Unavailable) -> AssertionKeys {
        let now = clock.now
        _ = use(address, at: now)
        return try available(await refetched(address, at: now), at: address)
    }

    private func available(_ keys: AssertionKeys?, at address: String) throws(Unavailable) -> AssertionKeys {
        guard let keys else { throw Unavailable(reason: entries[address]?.fault ?? "not fetched") }
        return keys
    }

    private func refetched(_ address: String, at now: Timestamp) async -> AssertionKeys? {
        if entries[address]?.fetch == nil {
            if let askedAt = entries[address]?.askedAt, now - askedAt < Self.refetchInterval {
                return use(address, at: now)
            }
            entries[address]?.askedAt = now
            // Its own task: a request that is cancelled must not take the answer from the others.
            entries[address]?.fetch = Task { [outbound] in
                self.keep(await Self.ask(outbound, address), of: address)
            }
        }
        _ = await entries[address]?.fetch?.value
        return use(address, at: clock.now)
    }

    private static func ask(_ outbound: Outbound, _ address: String) async -> Answer {
        do throws(OutboundError) {
            let response = try await outbound.get(address, accept: "application/jwk-set+json, application/json")
            guard response.status == 200 else { return .unusable("answered with status \(response.status)") }
            guard let text = String(validating: response.body, as: UTF8.self),
                let keys = try? AssertionKeys(keySet: text), !keys.isEmpty
            else { return .unusable("answered with no key that could be used") }
            return .keys(keys, life: min(max(response.maxAge ?? usualLife, shortestLife), longestLife))
        } catch {
            return .unusable("\(error)")
        }
    }

    private func keep(_ answer: Answer, of address: String) {
        let now = clock.now
        guard var entry = entries[address] else { return }
        switch answer {
        case .keys(let keys, let life):
            entry.keys = keys
            entry.goodAt = now
            entry.freshUntil = now + life
        case .unusable(let fault):
            entry.fault = fault
            // With keys to go on with, a server that is down is not asked at every request.
            entry.freshUntil = max(entry.freshUntil, now + Self.shortestLife)
        }
        entry.fetch = nil
        entries[address] = entry
    }

    /// What is kept of `address`, unless the outage has been too long. Makes room for it if it is new.
    private func use(_ address: String, at now: Timestamp) -> AssertionKeys? {
        guard var entry = entries[address] else {
            if entries.count >= Self.mostEntries {
                let idle = entries.filter { $0.value.fetch == nil }
                if let oldest = idle.min(by: { $0.value.usedAt < $1.value.usedAt }) { entries[oldest.key] = nil }
            }
            entries[address] = Entry(usedAt: now)
            return nil
        }
        entry.usedAt = now
        entries[address] = entry
        return now - entry.goodAt < Self.longestOutage ? entry.keys : nil
    }
}
