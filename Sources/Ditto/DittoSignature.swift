import Cryptography
import OAuth
import Text
import Values

/// The header `ditto-signature` of a request: the time of signing, and one signature for each of Ditto's secrets.
struct DittoSignature: Sendable {
    /// The maximum age of a request, and the maximum difference between Ditto's clock and ours.
    static let tolerance: Duration = .seconds(300)

    private let signedAt: Timestamp
    /// The original text of the time, which is what was signed.
    private let time: String
    private let signatures: [[UInt8]]

    /// Reads `t=<unix seconds>,v1=<hex>[,v1=<hex>…]`. Ignores signatures of other versions.
    init(_ headers: [String]) throws(OAuthError) {
        guard let header = headers.first else { throw Self.refused("ditto_unsigned", "it has no ditto-signature") }
        let malformed = Self.refused("ditto_signature_malformed", "ditto-signature is not t=SECONDS,v1=HEX")
        guard headers.count == 1 else { throw malformed }
        var times: [String] = []
        var signatures: [[UInt8]] = []
        for field in header.split(separator: ",", omittingEmptySubsequences: false) {
            let halves = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2 else { throw malformed }
            let value = String(halves[1].trimming { $0 == " " })
            switch halves[0].trimming(while: { $0 == " " }) {
            case "t": times.append(value)
            case "v1":
                guard let signature = Self.bytes(ofHex: value) else { throw malformed }
                signatures.append(signature)
            default: continue
            }
        }
        guard times.count == 1, !signatures.isEmpty, (1...12).contains(times[0].utf8.count),
            times[0].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let signedAt = Int64(times[0]).flatMap({ Timestamp(seconds: $0) })
        else { throw malformed }
        self.time = times[0]
        self.signedAt = signedAt
        self.signatures = signatures
    }

    /// Requires a signature of `body` by one of `secrets`, and a time within `tolerance`.
    func verify(_ body: [UInt8], with secrets: DittoSecrets, at now: Timestamp) throws(OAuthError) {
        guard (now - Self.tolerance...now + Self.tolerance).contains(signedAt) else {
            throw Self.refused("ditto_signature_stale", "its time is not within 300 seconds of ours")
        }
        let signed = Array("\(time).".utf8) + body
        for key in secrets.keys {
            let expected = Digest.hmacSHA256(signed, key: key)
            for signature in signatures where constantTimeEqual(signature, expected) { return }
        }
        throw Self.refused("ditto_signature_wrong", "none of its signatures is by a secret of this webhook")
    }

    private static func refused(_ reason: String, _ what: String) -> OAuthError {
        OAuthError(.invalidClient, reason, "The request is not signed as Ditto signs it: \(what).")
    }

    private static func bytes(ofHex text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == text.utf8.count, digits.count == 64 else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
