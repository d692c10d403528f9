import COpenSSL
import Foundation
import Testing

@testable import HTTPServer

@Suite("TLS") struct TLSTests {
    private let certificate: TestCertificate
    private let context: TLSContext

    init() throws {
        certificate = try TestCertificate()
        context = try TLSContext(certificate.settings, tickets: TicketKeys())
    }

    static let choices: [([String], TLSHandshake)] = [
        (["h2", "http/1.1"], .done(.http2)), (["http/1.1", "h2"], .done(.http2)), (["http/1.1"], .done(.http1)),
        (["smtp", "http/1.1"], .done(.http1)), ([], .done(.http1)), (["smtp"], .failed), (["h"], .failed),
        (["http/1.0"], .done(.http1)), (["http/1.0", "http/1.1"], .done(.http1)), (["h2c", "http/0.9"], .failed),
    ]

    @Test(
        "ALPN prefers h2, http/1.1, http/1.0; no overlap means no connection, no ALPN means HTTP/1.1",
        arguments: choices)
    func protocols(_ offered: [String], _ outcome: TLSHandshake) throws {
        let pair = try TLSPair(context, .init(protocols: offered))
        #expect(pair.handshake() == outcome)
    }

    @Test("TLS 1.2 and 1.3 are accepted, and nothing older")
    func versions() throws {
        for version in [TLS1_2_VERSION, TLS1_3_VERSION] {
            #expect(try TLSPair(context, .init(version: version)).handshake() == .done(.http2))
        }
        let old = TLSPair.Offer(version: TLS1_1_VERSION, ciphers: "ALL:@SECLEVEL=0")
        #expect(try TLSPair(context, old).handshake() == .failed)
    }

    @Test(
        "A cipher suite without forward secrecy or without authenticated encryption is refused",
        arguments: ["AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA256", "ECDHE-ECDSA-AES256-SHA"])
    func ciphers(_ suite: String) throws {
        let offer = TLSPair.Offer(version: TLS1_2_VERSION, ciphers: suite)
        #expect(try TLSPair(context, offer).handshake() == .failed)
    }

    @Test("Data in many TLS records is read whole, after which the server waits for more")
    func reading() throws {
        let pair = try TLSPair(context)
        _ = pair.handshake()
        let bytes = (0..<50_000).map { UInt8(truncatingIfNeeded: $0) }
        pair.clientWrites(Array(bytes[..<10]))
        pair.clientWrites(Array(bytes[10...]))
        let (read, end) = pair.serverReads()
        #expect(read == bytes)
        #expect(end == .again)
    }

    @Test("A TLS answer over the socket's buffer arrives whole, though its bytes move in memory between writes")
    func writing() throws {
        let pair = try TLSPair(context, .init(room: 4_096))
        _ = pair.handshake()
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        var (sent, received): (Int, [UInt8]) = (0, [])
        while sent < bytes.count {
            switch pair.serverWrites(Array(bytes[sent...])) {
            case .bytes(let count): sent += count
            case .again: received += pair.clientReads()
            case .failed: return #expect(Bool(false), "the write failed")
            }
        }
        received += pair.clientReads()
        #expect(received == bytes)
    }

    @Test("A TLS connection that ends with close_notify has ended; one that ends without it has failed")
    func ends() throws {
        let honest = try TLSPair(context)
        _ = honest.handshake()
        honest.clientWrites([1, 2])
        SSL_shutdown(honest.client)
        #expect(honest.serverReads() == ([1, 2], .ended))
        #expect(honest.serverWrites([3]) == .bytes(1))
        honest.server.shutdown()
        #expect(honest.clientReads() == [3])
        #expect(SSL_get_shutdown(honest.client) == SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)

        let cut = try TLSPair(context)
        _ = cut.handshake()
        cut.clientEnds()
        #expect(cut.serverReads().end == .failed)
        cut.server.shutdown()
    }

    @Test("One TLS connection's failure does not affect another")
    func errorQueue() throws {
        let (good, bad) = (try TLSPair(context), try TLSPair(context))
        _ = good.handshake()
        bad.clientSays(Array("GET / HTTP/1.1\r\n\r\n".utf8))
        #expect(bad.server.handshake() == .failed)
        #expect(bad.server.handshake() == .failed)
        #expect(good.serverReads().end == .again)
        good.clientWrites([1])
        #expect(good.serverReads().bytes == [1])
    }

    @Test("A record that cannot be decrypted ends the TLS connection")
    func badRecord() throws {
        let pair = try TLSPair(context)
        _ = pair.handshake()
        pair.clientSays([0x17, 3, 3, 0, 20] + [UInt8](repeating: 0, count: 20))
        #expect(pair.serverReads().end == .failed)
        #expect(pair.serverReads().end == .failed)
        #expect(pair.serverWrites([1]) == .failed)
    }

    @Test("TLS key updates between data are followed; thousands of them without data end the connection")
    func keyUpdates() throws {
        let pair = try TLSPair(context, .init(version: TLS1_3_VERSION))
        _ = pair.handshake()
        for byte in 0..<UInt8(100) {
            SSL_key_update(pair.client, SSL_KEY_UPDATE_NOT_REQUESTED)
            SSL_do_handshake(pair.client)
            pair.clientWrites([byte])
            #expect(pair.serverReads() == ([byte], .again))
        }
        var outcome = TransportRead.again
        for _ in 0..<5_000 where outcome == .again {
            SSL_key_update(pair.client, SSL_KEY_UPDATE_NOT_REQUESTED)
            SSL_do_handshake(pair.client)
            outcome = pair.serverReads().end
        }
        #expect(outcome == .failed)
    }

    @Test("A client of TLS 1.2 cannot renegotiate")
    func renegotiation() throws {
        let pair = try TLSPair(context, .init(version: TLS1_2_VERSION))
        _ = pair.handshake()
        SSL_renegotiate(pair.client)
        SSL_do_handshake(pair.client)
        _ = pair.serverReads()
        SSL_do_handshake(pair.client)
        #expect(SSL_renegotiate_pending(pair.client) == 1)
    }
}

extension TestCertificate {
    var settings: TLSSettings { TLSSettings(certificate: certificate, key: key) }
}
