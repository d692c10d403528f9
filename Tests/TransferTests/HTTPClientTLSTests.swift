import CCurl
import Synchronization
import TestSupport
import Testing
import Transfer

@Suite("The HTTP client's TLS handshake") struct HTTPClientTLSTests {
    /// The first message of a handshake (RFC 8446 §4.1.2).
    private struct Hello {
        var suites: [Int] = []
        var groups: [Int] = []

        init?(_ connection: LocalListener.Connection) {
            guard let header = connection.bytes(5), header[0] == 22,
                let body = connection.bytes(Int(header[3]) << 8 | Int(header[4])), body.first == 1
            else { return nil }
            var rest = body.dropFirst(4 + 2 + 32)
            _ = Self.take(1, &rest)
            suites = Self.numbers(Self.take(2, &rest))
            _ = Self.take(1, &rest)
            var extensions = Self.take(2, &rest)
            while extensions.count >= 4 {
                let kind = Int(extensions.removeFirst()) << 8 | Int(extensions.removeFirst())
                var content = Self.take(2, &extensions)
                if kind == 10 { groups = Self.numbers(Self.take(2, &content)) }
            }
        }

        /// What follows its length of `size` bytes.
        private static func take(_ size: Int, _ bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
            let count = bytes.prefix(size).reduce(0) { $0 << 8 | Int($1) }
            defer { bytes = bytes.dropFirst(size + count) }
            return bytes.dropFirst(size).prefix(count)
        }

        private static func numbers(_ bytes: ArraySlice<UInt8>) -> [Int] {
            stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).map {
                Int(bytes[$0]) << 8 | Int(bytes[$0 + 1])
            }
        }
    }

    @Test("The HTTP client offers no finite-field Diffie-Hellman, whose field the server could choose")
    func finiteFields() async throws {
        let heard = Mutex<[Hello]>([])
        let server = try LocalListener(serving: { connection in
            if let hello = Hello(connection) { heard.withLock { $0.append(hello) } }
        })
        let client = Requests.client()
        await #expect(throws: TransferError.self) {
            try await client.send(Requests.request("https://127.0.0.1:\(server.port)/"))
        }
        let hello = try #require(heard.withLock { $0.first })
        // DHE with RSA, by AES and ChaCha20 (RFC 5246 §A.5, RFC 5288 §3, RFC 7905 §2).
        #expect(Set([0x33, 0x39, 0x67, 0x6B, 0x9E, 0x9F, 0xCCAA]).isDisjoint(with: hello.suites))
        // ECDHE with RSA, and TLS 1.3.
        #expect(Set([0xC02F, 0x1301]).isSubset(of: hello.suites))
        // X25519, P-256, P-384, P-521; 0x100 to 0x1FF are finite fields (RFC 7919 §2).
        #expect(hello.groups == [29, 23, 24, 25])
    }

    /// `id-ecPublicKey`, and curves' names (RFC 5480 §2.1.1, RFC 5639 §4.1).
    private static let ecPublicKey: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
    private static let p256: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
    private static let p384: [UInt8] = [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22]
    private static let p521: [UInt8] = [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23]
    private static let secp256k1: [UInt8] = [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x0A]
    private static let brainpoolP256r1: [UInt8] = [0x06, 0x09, 0x2B, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x07]
    /// The beginning of parameters in full: a sequence, version 1, the field.
    private static let inFull: [UInt8] = [0x30, 0x82, 0x01, 0x02, 0x02, 0x01, 0x01, 0x30, 0x60]

    /// A part of a certificate: its key.
    private func key(_ parameters: [UInt8], as algorithm: [UInt8] = Self.ecPublicKey) -> [UInt8] {
        var bytes: [UInt8] = [0x30, 0x59, 0x30, 0x13]
        bytes += algorithm
        bytes += parameters
        bytes += [0x03, 0x42, 0x00, 0x04]
        bytes += Array(repeating: 0x5A, count: 64)
        return bytes
    }

    private func isDecoded(_ bytes: [UInt8]) -> Bool { spindle_has_known_curves(bytes, bytes.count) != 0 }

    @Test("The HTTP client decodes a certificate's key on P-256, P-384 or P-521, or on no curve, as with RSA")
    func known() {
        for name in [Self.p256, Self.p384, Self.p521] {
            #expect(isDecoded(key(name)), "\(name)")
            #expect(isDecoded(key(Self.p256) + key(name) + key(Self.p384)), "\(name)")
            // With nothing after it, the name is still whole.
            #expect(isDecoded(Self.ecPublicKey + name), "\(name)")
        }
        let rsa: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
        #expect(isDecoded(key([0x05, 0x00], as: rsa)))
        // An ECDSA signature names no curve.
        let signature: [UInt8] = [0x30, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]
        #expect(isDecoded(key([0x05, 0x00], as: rsa) + signature))
    }

    @Test("The HTTP client does not decode a certificate's key on any other curve, or one that the server made")
    func unknown() {
        var longName = Self.p256
        longName.replaceSubrange(1...1, with: [0x81, 0x08])
        var longKey = Self.ecPublicKey
        longKey.replaceSubrange(1...1, with: [0x81, 0x07])
        let none: [UInt8] = [0x05, 0x00]
        for parameters in [Self.inFull, none, [], Self.secp256k1, Self.brainpoolP256r1, longName] {
            #expect(!isDecoded(key(parameters)), "\(parameters)")
            // Whatever comes before and after it.
            #expect(!isDecoded(key(Self.p256) + key(parameters) + key(Self.p384)), "\(parameters)")
            #expect(!isDecoded(key(parameters, as: longKey)), "\(parameters)")
        }
        // Other algorithms name curves too, as SM2's does.
        let sm2: [UInt8] = [0x06, 0x08, 0x2A, 0x81, 0x1C, 0xCF, 0x55, 0x01, 0x82, 0x2D]
        let primeField: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x01, 0x01]
        #expect(!isDecoded(key(Self.inFull + primeField, as: sm2)))
        for name in [Self.p256, Self.p384, Self.p521] {
            for count in 0..<name.count {
                #expect(!isDecoded(Self.ecPublicKey + name.prefix(count)), "\(name.prefix(count))")
            }
        }
    }
}
