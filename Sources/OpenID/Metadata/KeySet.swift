import JOSE
public import JSON
public import Keys

/// The public halves of our keys, as others fetch them (RFC 7517 §5).
public struct KeySet: Sendable {
    private let ring: KeyRing

    public init(ring: KeyRing) { self.ring = ring }

    /// The keys that sign, those that will, and those whose signatures may still be presented.
    public func json() async throws -> JSON {
        .members(["keys": .array(try await ring.published().map(\.publicKey.json))])
    }
}
