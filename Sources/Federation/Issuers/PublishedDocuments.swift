import Outbound
import Values

/// No document is available; the reason is for the log.
struct DocumentUnavailable: Error, Equatable {
    let reason: String
}

/// Where a document is published, and who asks for it.
protocol PublishedSource: Hashable, Sendable {
    /// The share that its requests to other servers count in. Each share also has its own part of the cache.
    var share: String { get }
}

/// Documents that other servers publish, cached in memory.
///
/// Each is kept as long as its publisher says, within bounds, and fetched by one request at a time. In an outage the
/// last document is used for a limited time, so that a withdrawal takes effect.
actor PublishedDocuments<Source: PublishedSource, Document: Sendable> {
    /// The outcome of one fetch.
    enum Answer: Sendable {
        case document(Document, maxAge: Duration?)
        case unusable(String)
        /// The publisher has withdrawn the document: the last one is not used either.
        case withdrawn(String)
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
        var fetch: Task<Void, Never>?

        /// A time after `now` was stored before the clock was set back, and must not be waited for.
        mutating func correct(at now: Timestamp) {
            freshUntil = min(freshUntil, now + PublishedDocument.longestLife)
            goodAt = min(goodAt, now)
            if let asked = askedAt, asked > now { askedAt = nil }
            if let asked = askedAnewAt, asked > now { askedAnewAt = nil }
        }
    }

    private let clock: any WallClock
    private let ask: @Sendable (Source) async -> Answer
    private var entries: [Source: Entry] = [:]
    /// How many entries each share has.
    private var counts: [String: Int] = [:]
    /// How many requests of each share wait for a fetch.
    private var waiting: [String: Int] = [:]

    init(clock: any WallClock, ask: @escaping @Sendable (Source) async -> Answer) {
        self.clock = clock
        self.ask = ask
    }

    /// The document published at `source`.
    func document(at source: Source) async throws(DocumentUnavailable) -> Document {
        let now = clock.now
        if let document = use(source, at: now), let entry = entries[source], now < entry.freshUntil { return document }
        return try available(await refetched(source, \.askedAt, at: now), at: source)
    }

    /// The document again, after something was missing in it. It is fetched anew unless that was done just now.
    func documentAnew(at source: Source) async throws(DocumentUnavailable) -> Document {
        let now = clock.now
        // A server without a document is not asked more often for a missing entry.
        let asked = use(source, at: now) == nil ? \Entry.askedAt : \Entry.askedAnewAt
        return try available(await refetched(source, asked, at: now), at: source)
    }

    private func available(_ document: Document?, at source: Source) throws(DocumentUnavailable) -> Document {
        guard let document else { throw DocumentUnavailable(reason: entries[source]?.fault ?? "not fetched") }
        return document
    }

    private func refetched(
        _ source: Source, _ asked: WritableKeyPath<Entry, Timestamp?>, at now: Timestamp
    ) async -> Document? {
        if entries[source]?.fetch == nil {
            if let last = entries[source]?[keyPath: asked], now - last < PublishedDocument.refetchInterval {
                return use(source, at: now)
            }
            entries[source]?[keyPath: asked] = now
            // In a separate task, so that a cancelled request does not take the answer from the others.
            entries[source]?.fetch = Task { [ask] in self.keep(await ask(source), of: source) }
        }
        // A server that never answers holds at most this many requests.
        guard let fetch = entries[source]?.fetch, waiting[source.share, default: 0] < PublishedDocument.mostWaiting
        else { return use(source, at: clock.now) }
        waiting[source.share, default: 0] += 1
        await fetch.value
        let rest = waiting[source.share, default: 1] - 1
        waiting[source.share] = rest > 0 ? rest : nil
        return use(source, at: clock.now)
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
        case .withdrawn(let fault):
            entry.fault = fault
            entry.document = nil
        }
        entry.fetch = nil
        entries[source] = entry
    }

    /// The cached document of `source`, unless the outage has lasted too long. Makes room for a new entry.
    private func use(_ source: Source, at now: Timestamp) -> Document? {
        guard var entry = entries[source] else {
            if entries.count >= PublishedDocument.mostEntries, let largest = counts.max(by: { $0.value < $1.value }) {
                makeRoom(in: largest.key)
            }
            entries[source] = Entry(usedAt: now)
            counts[source.share, default: 0] += 1
            return nil
        }
        entry.usedAt = now
        entry.correct(at: now)
        entries[source] = entry
        return now - entry.goodAt < PublishedDocument.longestOutage ? entry.document : nil
    }
}

extension PublishedDocuments {
    /// Forgets an entry of `share`: the least recently used of those without a document, or else of all.
    private func makeRoom(in share: String) {
        let idle = entries.filter { $0.key.share == share && $0.value.fetch == nil }
        let empty = idle.filter { $0.value.document == nil }
        guard let oldest = (empty.isEmpty ? idle : empty).min(by: { $0.value.usedAt < $1.value.usedAt }) else { return }
        entries[oldest.key] = nil
        let count = counts[share, default: 1] - 1
        counts[share] = count > 0 ? count : nil
    }
}

/// How long published documents are kept.
enum PublishedDocument {
    static let shortestLife: Duration = .minutes(1)
    static let usualLife: Duration = .minutes(5)
    static let longestLife: Duration = .hours(1)
    /// How long a document outlives the last good answer.
    static let longestOutage: Duration = .days(1)
    /// A document that is unavailable or lacks a key is fetched at most this often: anyone can make up a key id.
    static let refetchInterval: Duration = .seconds(10)
    /// Beyond this, the share with the most entries loses one, so that requests for one merchant's clients cannot push
    /// out other merchants' documents.
    static let mostEntries = 2048
    /// How many requests of a share wait for fetches; further ones use the last document, or fail.
    static let mostWaiting = 64

    static func life(_ maxAge: Duration?) -> Duration { min(max(maxAge ?? usualLife, shortestLife), longestLife) }
}
