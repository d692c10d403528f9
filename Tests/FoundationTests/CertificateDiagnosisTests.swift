import TestSupport
import Testing
import Values

@testable import Server

/// What `spindle doctor` says of the certificate.
@Suite struct CertificateDiagnosisTests: ConfigurationStory {
    private let now = Timestamp(milliseconds: 1_800_000_000_000)

    @Test("Doctor reports no certificate for a server without TLS")
    func none() throws { #expect(CertificateDiagnosis.findings(try read(), at: now).isEmpty) }

    @Test("Doctor reports a certificate that cannot be read as bad")
    func unreadable() throws {
        let configuration = try read(["tls_certificate": "/nonexistent/c.pem", "tls_key": "/nonexistent/k.pem"])
        let findings = CertificateDiagnosis.findings(configuration, at: now)
        #expect(findings.map(\.subject) == ["certificate"])
        #expect(findings.map(\.state) == [.bad])
        #expect(findings.first?.detail.contains("/nonexistent/c.pem") == true)
    }

    @Test("Doctor warns of a certificate's end two weeks ahead, and reports an expired one as a fault")
    func end() {
        let states: [(Duration, Finding.State)] = [
            (.days(15), .good), (.days(14), .good), (.days(13), .warning), (.zero, .bad), (.days(-1), .bad),
        ]
        for (left, state) in states {
            #expect(CertificateDiagnosis.finding("c.pem", end: now + left, at: now).state == state, "\(left)")
        }
        #expect(
            CertificateDiagnosis.finding("c.pem", end: now + .days(15), at: now).detail
                == "c.pem ends at 2027-01-30T08:00:00Z")
        #expect(
            CertificateDiagnosis.finding("c.pem", end: now, at: now).detail == "c.pem ended at 2027-01-15T08:00:00Z")
    }

    @Test("A running server logs its certificate's end two weeks ahead, and again when it has come")
    func running() {
        let lines: [(Duration, String?)] = [
            (.days(14), nil), (.days(13), "warning the certificate ends soon ends="),
            (.zero, "error the certificate has ended ends="),
        ]
        for (left, line) in lines {
            let (log, end) = (RecordedLog(), now + left)
            CertificateWatch(end: { end }, clock: ManualClock(now), logger: log.logger).look()
            #expect(log.lines == (line.map { [$0 + end.iso8601] } ?? []))
        }
    }
}
