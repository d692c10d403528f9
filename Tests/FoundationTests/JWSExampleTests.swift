import Cryptography
import Testing

@testable import JOSE
@testable import JSON

@Suite("Signatures of the specifications' examples") struct JWSExampleTests {
    private static let allowed = Set(SignatureAlgorithm.allCases)

    private func key(_ example: JWSExample) throws -> AssertionKey {
        if let secret = example.secret { return AssertionKey(secret: try #require(Base64URL.decode(secret))) }
        let jwk = try JSON(parsing: Array((example.jwk ?? "").utf8))
        return try AssertionKey(jwk: jwk)
    }

    @Test("Every example verifies with its key, and with no other example's key of its kind", arguments: JWSExample.all)
    func verifies(_ example: JWSExample) throws {
        let token = try SignedJWT(example.token, allowed: Self.allowed)
        #expect(token.algorithm.rawValue == example.algorithm)
        #expect(try key(example).verifies(token))
        for other in JWSExample.all where other.jwk != example.jwk || other.secret != example.secret {
            #expect(try !key(other).verifies(token), "\(other.place)")
        }
    }

    @Test("A changed bit anywhere in a signature, or in the signed bytes, is noticed", arguments: JWSExample.all)
    func changed(_ example: JWSExample) throws {
        let key = try key(example)
        let parts = example.token.split(separator: ".").map(String.init)
        for part in [1, 2] {
            let bytes = try #require(Base64URL.decode(parts[part]))
            for place in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 20)) + [bytes.count - 1] {
                for bit in [0, 3, 7] {
                    var changed = bytes
                    changed[place] ^= 1 << bit
                    var text = parts
                    text[part] = Base64URL.encode(changed)
                    let token = try SignedJWT(text.joined(separator: "."), allowed: Self.allowed)
                    #expect(!key.verifies(token), "part \(part), byte \(place), bit \(bit)")
                }
            }
        }
    }

    @Test("A signature of another length, or of zeros, is refused", arguments: JWSExample.all)
    func lengths(_ example: JWSExample) throws {
        let key = try key(example)
        let end = try #require(example.token.lastIndex(of: "."))
        let signature = try #require(Base64URL.decode(example.token[example.token.index(after: end)...]))
        let zeros = [UInt8](repeating: 0, count: signature.count)
        var others = [
            [], [0], zeros, signature + [0], [0] + signature, Array(signature.dropLast()), signature + signature,
        ]
        if example.algorithm.hasPrefix("ES") { others += halves(signature) }
        for other in others {
            let token = try SignedJWT(
                example.token[...end] + Base64URL.encode(other), allowed: Self.allowed)
            #expect(!key.verifies(token), "\(other.count) bytes")
        }
    }

    /// An ECDSA signature with one half that is zero, and one with both halves a byte longer, which are the same
    /// numbers.
    private func halves(_ signature: [UInt8]) -> [[UInt8]] {
        let (r, s) = (signature.prefix(signature.count / 2), signature.suffix(signature.count / 2))
        let zeros = [UInt8](repeating: 0, count: r.count)
        return [r + zeros, zeros + s, [0] + r + [0] + s].map(Array.init)
    }
}
