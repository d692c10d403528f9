/// A parser of untrusted bytes, and what must hold for everything it accepts.
struct FuzzTarget: Sendable {
    let name: String
    let read: @Sendable ([UInt8]) -> Void

    static let all = [
        FuzzTarget(name: "addresses", read: fuzzAddresses),
        FuzzTarget(name: "basic", read: fuzzBasic),
        FuzzTarget(name: "chunks", read: fuzzChunks),
        FuzzTarget(name: "claims", read: fuzzClaims),
        FuzzTarget(name: "clients", read: fuzzClients),
        FuzzTarget(name: "cookies", read: fuzzCookies),
        FuzzTarget(name: "dates", read: fuzzDates),
        FuzzTarget(name: "ditto", read: fuzzDitto),
        FuzzTarget(name: "filters", read: fuzzFilters),
        FuzzTarget(name: "form", read: fuzzForm),
        FuzzTarget(name: "forwarded", read: fuzzForwarded),
        FuzzTarget(name: "hash", read: fuzzHash),
        FuzzTarget(name: "http1", read: fuzzHTTP1),
        FuzzTarget(name: "http2", read: fuzzHTTP2),
        FuzzTarget(name: "json", read: fuzzJSON),
        FuzzTarget(name: "jwk", read: fuzzJWK),
        FuzzTarget(name: "jwt", read: fuzzJWT),
        FuzzTarget(name: "languages", read: fuzzLanguages),
        FuzzTarget(name: "mail", read: fuzzMail),
        FuzzTarget(name: "multipart", read: fuzzMultipart),
        FuzzTarget(name: "names", read: fuzzNames),
        FuzzTarget(name: "paths", read: fuzzPaths),
        FuzzTarget(name: "phones", read: fuzzPhones),
        FuzzTarget(name: "uris", read: fuzzURIs),
    ]
}

/// Whether two texts are the same bytes: Swift's `==` treats canonically equivalent ones as equal.
func isSame(_ one: String, _ other: String) -> Bool { one.utf8.elementsEqual(other.utf8) }

extension [UInt8] {
    /// The bytes as the HTTP reader returns the value of a field: invalid UTF-8 is replaced.
    var text: String { String(decoding: self, as: UTF8.self) }

    /// The parts before and after the first `byte`.
    func halves(at byte: UInt8) -> ([UInt8], [UInt8]) {
        guard let index = firstIndex(of: byte) else { return (self, []) }
        return (Array(self[..<index]), Array(self[(index + 1)...]))
    }
}
