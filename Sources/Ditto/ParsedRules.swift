import Directory
import JSON
import Synchronization

/// Recently used rules of webhooks, parsed. Anyone may send requests to a webhook's address, and a document of
/// thousands of queries takes ten milliseconds to parse.
final class ParsedRules: Sendable {
    /// More than one merchant has. Beyond this, the merchant with the most entries loses its least recently used one,
    /// so that requests for one merchant's webhooks push out no others'.
    static let most = 128

    fileprivate struct Entry {
        let document: String
        let rules: DittoRules
        let merchant: Merchant.ID
        var usedAt: UInt64
    }

    fileprivate struct State {
        var entries: [DittoWebhook.ID: Entry] = [:]
        /// Counts the uses.
        var now: UInt64 = 0
    }

    private let state = Mutex(State())

    /// The rules of `document`, the one now stored for the webhook `id` of `merchant`.
    func rules(of document: String, for id: DittoWebhook.ID, of merchant: Merchant.ID) throws -> DittoRules {
        if let rules = state.withLock({ $0.use(id, document) }) { return rules }
        let rules = try DittoRules(try JSON(stored: document))
        keep(rules, of: document, for: id, of: merchant)
        return rules
    }

    /// Keeps the rules that `document` was just written from.
    func keep(_ rules: DittoRules, of document: String, for id: DittoWebhook.ID, of merchant: Merchant.ID) {
        state.withLock { $0.keep(rules, of: document, for: id, of: merchant) }
    }

    /// Whether the rules of the webhook are here.
    func has(_ id: DittoWebhook.ID) -> Bool { state.withLock { $0.entries[id] != nil } }
}

extension ParsedRules.State {
    fileprivate mutating func use(_ id: DittoWebhook.ID, _ document: String) -> DittoRules? {
        guard let entry = entries[id], entry.document.utf8.elementsEqual(document.utf8) else { return nil }
        now += 1
        entries[id]?.usedAt = now
        return entry.rules
    }

    fileprivate mutating func keep(
        _ rules: DittoRules, of document: String, for id: DittoWebhook.ID, of merchant: Merchant.ID
    ) {
        if entries[id] == nil, entries.count >= ParsedRules.most { makeRoom() }
        now += 1
        entries[id] = ParsedRules.Entry(document: document, rules: rules, merchant: merchant, usedAt: now)
    }

    private mutating func makeRoom() {
        let counts = Dictionary(entries.values.map { ($0.merchant, 1) }, uniquingKeysWith: +)
        guard let largest = counts.max(by: { $0.value < $1.value })?.key,
            let oldest = entries.filter({ $0.value.merchant == largest }).min(by: { $0.value.usedAt < $1.value.usedAt })
        else { return }
        entries[oldest.key] = nil
    }
}
