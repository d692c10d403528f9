import Cryptography
import Migrations
import Storage
import TestSupport
import Testing
import Values

@testable import Server

/// What `spindle doctor` reports of a configuration that is valid but weak.
@Suite struct DiagnosisTests: ConfigurationStory {
    private func warnings(_ commandLine: [String: String]) throws -> [String] {
        ConfigurationDiagnosis.findings(try read(commandLine)).filter { $0.state == .warning }.map(\.detail)
    }

    @Test("Doctor warns of nothing in the default configuration")
    func defaults() throws {
        #expect(try warnings([:]) == [])
        #expect(try warnings(["issuer": "https://id.example.com", "trusted_proxies": "10.0.0.0/8"]) == [])
    }

    @Test("Doctor warns if the server listens without TLS at an address that other machines reach")
    func openAddresses() throws {
        let open = try warnings([
            "listen": "0.0.0.0:8080", "admin_listen": "[::]:8081", "issuer": "https://id.example.com",
            "trusted_proxies": "10.0.0.0/8",
        ])
        #expect(open.count == 2)
        #expect(open.first?.hasPrefix("listen 0.0.0.0:8080 is without TLS") == true)
        #expect(open.last?.hasPrefix("admin_listen [::]:8081 is without TLS") == true)
        #expect(try warnings(["listen": "localhost:8080", "admin_listen": "[::1]:8081"]) == [])
        let tls = ["listen": "0.0.0.0:443", "tls_certificate": "c", "tls_key": "k", "trusted_proxies": "10.0.0.0/8"]
        #expect(try warnings(tls) == [])
    }

    @Test("Doctor warns if facebook_api or google_api names another host than the provider's")
    func providers() throws {
        for (key, own) in [
            ("facebook_api", "https://graph.facebook.com/v19.0"), ("google_api", "https://oauth2.googleapis.com/"),
        ] {
            #expect(try warnings([key: own]) == [])
            for other in ["https://example.com", "\(own.prefix(10))x.example", "http://127.0.0.1:9"] {
                let told = try warnings([key: other])
                #expect(told.count == 1 && told.first?.hasPrefix("\(key) \(other) is not") == true, "\(told)")
            }
        }
    }

    @Test("Doctor warns of signing keys without rotation, cached introspection and SameSite=None sessions")
    func choices() throws {
        let keys = try warnings(["key_rotation": "0"])
        #expect(keys.count == 1 && keys.first?.hasPrefix("key_rotation 0: ") == true)
        // Rotation would keep a stolen key published.
        #expect(keys.first?.contains("spindle key withdraw") == true)
        let kept = try warnings(["introspection_cache": "60"])
        #expect(kept.count == 1 && kept.first?.hasPrefix("introspection_cache 60: ") == true)
        let sessions = try warnings([
            "session_samesite": "none", "issuer": "https://id.example.com", "trusted_proxies": "10.0.0.0/8",
        ])
        #expect(sessions.count == 1 && sessions.first?.hasPrefix("session_samesite none") == true)
    }

    @Test("Doctor warns of a range of trusted proxies that is wider than a real network")
    func proxies() throws {
        for wide in ["0.0.0.0/0", "128.0.0.0/1", "8.0.0.0/7", "::/0", "2000::/3"] {
            let told = try warnings(["trusted_proxies": wide])
            #expect(told.count == 1 && told.first?.hasPrefix("trusted_proxies \(wide) ") == true, "\(told)")
        }
        for narrow in ["10.0.0.0/8", "fc00::/7", "fe80::/10", "2001:db8::/32", "192.0.2.1"] {
            #expect(try warnings(["trusted_proxies": narrow]) == [], "\(narrow)")
        }
    }

    private let now = Timestamp(milliseconds: 1_800_000_000_000)

    @Test("Doctor has no finding about certificates for a server without TLS")
    func none() throws { #expect(CertificateDiagnosis.findings(try read(), at: now).isEmpty) }

    @Test("Doctor reports an unreadable certificate as a fault")
    func unreadable() throws {
        let configuration = try read(["tls_certificate": "/nonexistent/c.pem", "tls_key": "/nonexistent/k.pem"])
        let findings = CertificateDiagnosis.findings(configuration, at: now)
        #expect(findings.map(\.subject) == ["certificate"])
        #expect(findings.map(\.state) == [.bad])
        #expect(findings.first?.detail.contains("/nonexistent/c.pem") == true)
    }

    @Test("Doctor warns in the two weeks before a certificate expires, and reports an expired one as a fault")
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

    @Test("A running server logs a warning in its certificate's last two weeks, and an error once it expired")
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

    @Test(
        "Doctor reports a clock that is three seconds or more apart from the database server's",
        arguments: Backend.available.filter { $0 == .postgresql }, [0, 3, -3, 300])
    func apart(backend: Backend, seconds: Int64) async throws {
        let address = try await backend.freshAddress()
        let database = try await Backend.open(address)
        try await Migrator(database: database, migrations: Migration.all).migrate(at: 0)
        let now = SystemClock().now + .seconds(seconds)
        let diagnosis = DatabaseDiagnosis(
            database: database,
            configuration: try read([:], ["SPINDLE_DATABASE": address, "SPINDLE_MASTER_KEY": inlineKey]),
            clock: ManualClock(now), random: SystemRandom())
        let told = await diagnosis.serverFindings().filter { $0.subject == "clock" }
        #expect(told.isEmpty == (seconds == 0), "\(told)")
        if let told = told.first { #expect(told.detail.contains(seconds > 0 ? "ahead of" : "behind")) }
        await database.close()
    }
}
