import JSON
import Synchronization

/// The rules of webhooks that were asked lately, as they were read from their documents. Anybody may ask at a webhook's
/// address, and a document of thousands of queries takes ten milliseconds to read.
final class ParsedRules: Sendable {
    private static let most = 64

    private struct Entry {
        let document: String
        let rules: DittoRules
    }

    private let entries = Mutex<[DittoWebhook.ID: Entry]>([:])

    /// The rules of `document`, which is stored for `id` now.
    func rules(of document: String, for id: DittoWebhook.ID) throws -> DittoRules {
        if let entry = entries.withLock({ $0[id] }), entry.document.utf8.elementsEqual(document.utf8) {
            return entry.rules
        }
        let rules = try DittoRules(try JSON(stored: document))
        entries.withLock { entries in
            if entries.count >= Self.most { entries.removeAll() }
            entries[id] = Entry(document: document, rules: rules)
        }
        return rules
    }
}
