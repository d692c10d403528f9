import HTTPServer
import Keys
import Testing

@testable import Server

/// Settings with which a server would start, and fail its first requests.
@Suite struct BrokenSettingTests: ConfigurationStory {
    @Test(
        "An issuer that browsers write differently, or that cannot be reached, is refused",
        arguments: [
            "https://id.example:0", "https://id.example:65536", "https://id.example:", "https://1.2.3",
            "https://0x7f.1", "https://2130706433", "https://256.1.1.1", "https://id.example.1", "https://%69d.example",
            "https://-a.b", "https://a-.b", "https://a..b", "https://id.example.", "https://[::ffff:1.2.3.4]",
            "https://id.example/a/../b", "https://id.example/./b", "https://id.example/%2e%2e/b",
            "https://id.example/a%2Fb", "https://id.example/a%0Ab", "https://id.example/%zz", "https://id.example//a",
        ])
    func issuer(_ text: String) {
        #expect(faults(["issuer": text]).map(\.key) == ["issuer"])
    }

    @Test(
        "An issuer that every reader reads alike is accepted",
        arguments: [
            "https://ID.example:443", "http://localhost:8080/a/", "http://[0:0::1]:8080", "http://10.0.0.1",
            "https://xn--bcher-kva.example", "https://id.example/tenant_1", "https://3com.example", "http://intranet",
        ])
    func plainIssuer(_ text: String) { #expect(faults(["issuer": text]).isEmpty) }

    @Test("The issuer is required if the listen address makes no valid one")
    func defaultIssuer() throws {
        #expect(faults(["listen": "-a.b:8080"]).map(\.key) == ["issuer"])
        #expect(faults(["listen": "-a.b:8080", "issuer": "https://id.example"]).isEmpty)
    }

    @Test(
        "A database setting that is neither a path nor a whole PostgreSQL URL is refused",
        arguments: ["postgresql:x", "postgres:/x", "file:spindle.db", ":memory:", " ", "\t \n"])
    func database(_ text: String) { #expect(faults(["database": text]).map(\.key) == ["database"]) }

    @Test("A database path with a colon is accepted")
    func path() { #expect(faults(["database": "./file:spindle.db"]).isEmpty) }

    @Test("A provider's address with a query is refused")
    func query() {
        for key in ["facebook_api", "google_api"] {
            for text in ["https://api.example/?key=x", "https://api.example?", "https://api.example/a?"] {
                #expect(faults([key: text]).map(\.key) == [key], "\(text)")
            }
        }
    }

    @Test(
        "Administration must listen at another address than the public one",
        arguments: [
            ("127.0.0.1:8080", "127.0.0.1:8080", true), ("0.0.0.0:8080", "127.0.0.1:8080", true),
            ("127.0.0.1:8080", "[::]:8080", true), ("localhost:8080", "LocalHost:8080", true),
            ("[::1]:8080", "[0:0::1]:8080", true), ("127.0.0.1:8080", "127.0.0.1:8081", false),
            ("0.0.0.0:8080", "[::]:8081", false), ("127.0.0.1:8080", "10.0.0.1:8080", false),
            ("0.0.0.0:8080", "[::]:8080", true), ("0.0.0.0:8080", "localhost:8080", true),
            ("0.0.0.0:8080", "[::1]:8080", false), ("[::1]:8080", "0.0.0.0:8080", false),
        ])
    func administration(listen: String, adminListen: String, isRefused: Bool) {
        let faults = faults(["listen": listen, "admin_listen": adminListen])
        #expect(
            faults.map(\.description)
                == (isRefused ? ["admin_listen: must be another address than listen (--admin-listen)"] : []))
    }

    @Test("An unreadable certificate or key fails under its setting's name, and permanently only if encrypted")
    func files() throws {
        let files = TLSSettings(certificate: "c.pem", key: "k.pem")
        let faults: [(TLSError, String, CommandFailure.Status)] = [
            (.unreadable(file: "c.pem", reason: "no"), "tls_certificate: cannot read c.pem: no", .failed),
            (.unreadable(file: "k.pem", reason: "no"), "tls_key: cannot read k.pem: no", .failed),
            (.noCertificate(file: "c.pem"), "tls_certificate: c.pem holds no PEM certificate", .failed),
            (.noKey(file: "k.pem"), "tls_key: k.pem holds no PEM private key", .failed),
            (
                .wrongKey(file: "k.pem", certificate: "c.pem"),
                "tls_key: the private key in k.pem does not belong to the certificate in c.pem", .failed
            ),
            (.encryptedKey(file: "k.pem"), "tls_key: the private key in k.pem is encrypted", .configuration),
        ]
        for (error, message, status) in faults {
            let fault = try #require(CertificateFault(error, in: files))
            let failure = try #require(CommandFailure(fault))
            #expect(failure.message == message && failure.status == status)
        }
        #expect(CertificateFault(.unavailable(reason: "no"), in: files)?.description == nil)
        let key = try #require(CommandFailure(MasterKeyError.missing(path: "m.key")))
        #expect(key.message.hasPrefix("master_key_file: ") && key.status == .configuration)
    }
}
