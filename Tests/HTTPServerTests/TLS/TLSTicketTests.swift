import COpenSSL
import Foundation
import Synchronization
import Testing

@testable import HTTPServer

@Suite("TLS: tickets") struct TLSTicketTests {
    /// A clock that stands still until a test moves it.
    private final class Clock: Sendable {
        private let time = Mutex(ContinuousClock.now)
        var now: ContinuousClock.Instant { time.withLock { $0 } }
        func advance(by duration: Duration) { time.withLock { $0 += duration } }
    }

    private let clock = Clock()
    private let certificate: TestCertificate
    private let keys: TicketKeys

    init() throws {
        certificate = try TestCertificate()
        keys = TicketKeys { [clock] in clock.now }
    }

    static let versions = [TLS1_2_VERSION, TLS1_3_VERSION]

    @Test("A TLS session is resumed after the certificate was replaced", arguments: versions)
    func exchange(_ version: Int32) throws {
        let session = try firstSession(version, TLSContext(certificate.settings, tickets: keys))
        defer { SSL_SESSION_free(session) }
        let next = try TestCertificate()
        #expect(try resumes(session, version, TLSContext(next.settings, tickets: keys)))
    }

    @Test(
        "A TLS session is resumed after the ticket keys have changed once, and not after they changed twice",
        arguments: versions)
    func rotation(_ version: Int32) throws {
        let context = try TLSContext(certificate.settings, tickets: keys)
        let session = try firstSession(version, context)
        defer { SSL_SESSION_free(session) }
        clock.advance(by: TicketKeys.period + .seconds(1))
        SSL_SESSION_free(try firstSession(version, context))
        #expect(try resumes(session, version, context))
        clock.advance(by: TicketKeys.period)
        #expect(try !resumes(session, version, context))
    }

    @Test("A TLS session ticket made with another server's keys leads to a full handshake", arguments: versions)
    func foreign(_ version: Int32) throws {
        let session = try firstSession(version, TLSContext(certificate.settings, tickets: TicketKeys()))
        defer { SSL_SESSION_free(session) }
        #expect(try !resumes(session, version, TLSContext(certificate.settings, tickets: keys)))
    }

    private func firstSession(_ version: Int32, _ context: TLSContext) throws -> OpaquePointer? {
        let pair = try TLSPair(context, .init(version: version))
        #expect(pair.handshake() == .done(.http2))
        #expect(!pair.isResumed)
        let session = pair.session()
        SSL_shutdown(pair.client)
        return session
    }

    private func resumes(_ session: OpaquePointer?, _ version: Int32, _ context: TLSContext) throws -> Bool {
        let pair = try TLSPair(context, .init(version: version, session: session))
        #expect(pair.handshake() == .done(.http2))
        SSL_shutdown(pair.client)
        return pair.isResumed
    }
}
