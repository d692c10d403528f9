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
}
