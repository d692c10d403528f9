import Cryptography
import JOSE
public import JSON
public import Keys

/// The public halves of our keys, as other servers fetch them (RFC 7517 §5).
public struct KeySet: Sendable {
    private let ring: KeyRing

    public init(ring: KeyRing) { self.ring = ring }

    /// The keys that sign, those that will, and those whose signatures may still be presented.
    public func json() async throws -> JSON {
        let keys = try await ring.published()
        // Some libraries only know RS256 keys, and only try the first key.
        let sorted = keys.filter { $0.algorithm == .rs256 } + keys.filter { $0.algorithm != .rs256 }
        return .members(["keys": .array(sorted.map(\.publicKey.json))])
    }
}
