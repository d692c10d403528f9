import Directory
import Outbound
import Values

/// No document is available; the reason is for the log.
struct DocumentUnavailable: Error, Equatable {
    let reason: String
}

/// The merchant for whose client or issuer a document is asked; the platform for those that have no merchant.
struct DocumentOwner: Hashable, Sendable {
    let text: String

    init(_ merchant: Merchant.ID?) { text = merchant?.text ?? "platform" }
}

/// Documents that others publish, cached in memory.
///
/// Each is kept as long as its publisher says, within bounds, and fetched by one request at a time however many ask. In
/// an outage the last document is used, but not forever: a withdrawal must take effect some day. Where there are too
/// many, the merchant with most of them loses one: no merchant's thousand clients drive out the keys of another's.
actor PublishedDocuments<Source: Hashable & Sendable, Document: Sendable> {
    /// The outcome of one fetch.
    enum Answer: Sendable {
        case document(Document, maxAge: Duration?)
        case unusable(String)
    }

    private struct Entry {
        var document: Document?
        /// Why the last fetch failed, if it did.
        var fault = "not fetched yet"
        var freshUntil = Timestamp(milliseconds: 0)
        var goodAt = Timestamp(milliseconds: 0)
        /// When it was last fetched because it was stale, successfully or not.
        var askedAt: Timestamp?
        /// When it was last fetched because something was missing in it. The two are limited separately, or a key that
        /// appears right after a regular fetch would not be seen.
        var askedAnewAt: Timestamp?
        var usedAt: Timestamp
        /// Who used it last.
        var owner: DocumentOwner
        var fetch: Task<Void, Never>?
    }

    private let clock: any WallClock
    private let ask: @Sendable (Source, DocumentOwner) async -> Answer
    private var entries: [Source: Entry] = [:]

    init(clock: any WallClock, ask: @escaping @Sendable (Source, DocumentOwner) async -> Answer) {
        self.clock = clock
        self.ask = ask
    }

    /// The document published at `source`.
    func document(at source: Source, for owner: DocumentOwner) async throws(DocumentUnavailable) -> Document {
        let now = clock.now
        if let document = use(source, for: owner, at: now), let entry = entries[source], now < entry.freshUntil {
            return document
        }
        return try available(await refetched(source, for: owner, \.askedAt, at: now), at: source)
    }

    /// The document again, after something was missing in it. It is fetched anew unless that was done just now.
    func documentAnew(at source: Source, for owner: DocumentOwner) async throws(DocumentUnavailable) -> Document {
        let now = clock.now
        // A server that gives no document at all is not asked more often for this.
        let asked = use(source, for: owner, at: now) == nil ? \Entry.askedAt : \Entry.askedAnewAt
        return try available(await refetched(source, for: owner, asked, at: now), at: source)
    }

    private func available(_ document: Document?, at source: Source) throws(DocumentUnavailable) -> Document {
        guard let document else { throw DocumentUnavailable(reason: entries[source]?.fault ?? "not fetched") }
        return document
    }

    private func refetched(
        _ source: Source, for owner: DocumentOwner, _ asked: WritableKeyPath<Entry, Timestamp?>, at now: Timestamp
    ) async -> Document? {
        if entries[source]?.fetch == nil {
            if let last = entries[source]?[keyPath: asked], now - last < PublishedDocument.refetchInterval {
                return use(source, for: owner, at: now)
            }
            entries[source]?[keyPath: asked] = now
            // A task of its own: a cancelled request must not take the answer from the others.
            entries[source]?.fetch = Task { [ask] in self.keep(await ask(source, owner), of: source) }
        }
        _ = await entries[source]?.fetch?.value
        return use(source, for: owner, at: clock.now)
    }

    private func keep(_ answer: Answer, of source: Source) {
        let now = clock.now
        guard var entry = entries[source] else { return }
        switch answer {
        case .document(let document, let maxAge):
            entry.document = document
            entry.goodAt = now
            entry.freshUntil = now + PublishedDocument.life(maxAge)
        case .unusable(let fault):
            entry.fault = fault
            // While an old document is in use, a server that is down is not asked at every request.
            entry.freshUntil = max(entry.freshUntil, now + PublishedDocument.shortestLife)
        }
        entry.fetch = nil
        entries[source] = entry
    }

    /// The cached document of `source`, unless the outage has lasted too long. Makes room for a new entry.
    private func use(_ source: Source, for owner: DocumentOwner, at now: Timestamp) -> Document? {
        guard var entry = entries[source] else {
            if entries.count >= PublishedDocument.mostEntries { forgetOne() }
            entries[source] = Entry(usedAt: now, owner: owner)
            return nil
        }
        entry.usedAt = now
        entry.owner = owner
        entries[source] = entry
        return now - entry.goodAt < PublishedDocument.longestOutage ? entry.document : nil
    }
}

extension PublishedDocuments {
    /// Forgets an entry of the merchant with most: one without a document, or else the one that was used longest ago.
    private func forgetOne() {
        let idle = entries.filter { $0.value.fetch == nil }
        let counts = idle.values.reduce(into: [DocumentOwner: Int]()) { $0[$1.owner, default: 0] += 1 }
        guard let most = counts.max(by: { $0.value < $1.value })?.key else { return }
        let last = idle.filter { $0.value.owner == most }.min { one, other in
            let (isOneEmpty, isOtherEmpty) = (one.value.document == nil, other.value.document == nil)
            return isOneEmpty == isOtherEmpty ? one.value.usedAt < other.value.usedAt : isOneEmpty
        }
        if let last { entries[last.key] = nil }
    }
}

/// How long published documents are kept.
enum PublishedDocument {
    static let shortestLife: Duration = .minutes(1)
    static let usualLife: Duration = .minutes(5)
    static let longestLife: Duration = .hours(1)
    /// How long a document outlives the last good answer when no other comes.
    static let longestOutage: Duration = .days(1)
    /// A document that is unavailable or lacks a key is fetched at most this often: anyone can make up a key id.
    static let refetchInterval: Duration = .seconds(10)
    static let mostEntries = 256

    static func life(_ maxAge: Duration?) -> Duration { min(max(maxAge ?? usualLife, shortestLife), longestLife) }
}
