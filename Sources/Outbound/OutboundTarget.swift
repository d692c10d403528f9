import Text
import Transfer

/// The parts of a URL that decide where a request goes.
struct OutboundTarget: Sendable {
    private static let longest = 2000
    /// Access tokens of other issuers may have 2048 bytes and more, each of which may take three when encoded.
    private static let longestQuery = 8000

    let url: TransferURL
    /// A name, or an address without brackets.
    var host: String { url.host }
    var isEncrypted: Bool { url.isEncrypted }

    init(_ url: String) throws(OutboundError) {
        guard url.utf8.count <= Self.longest, let parsed = TransferURL(url) else { throw .unacceptableURL }
        self.url = parsed
    }

    /// `url`, which must have no query, with these parameters; their values may be anything.
    init(_ url: String, query: KeyValuePairs<String, String>) throws(OutboundError) {
        let pairs = PercentEncoding.encode(pairs: query.map { (name: $0.key, value: $0.value) })
        guard url.utf8.count <= Self.longest, !url.contains("?"), pairs.utf8.count <= Self.longestQuery,
            let parsed = TransferURL(query.isEmpty ? url : url + "?" + pairs)
        else { throw .unacceptableURL }
        self.url = parsed
    }
}
