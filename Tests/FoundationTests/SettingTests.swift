import Foundation
import HTTPServer
import Keys
import Logging
import Mail
import Testing
import Values

@testable import Server

/// The values that each setting takes.
@Suite struct SettingTests: ConfigurationStory {
    @Test(
        "The issuer is kept verbatim, and its origin is scheme, host and port",
        arguments: [
            ("https://id.example.com", "https://id.example.com", true),
            ("https://id.example.com/", "https://id.example.com", true),
            ("https://id.example.com:444/a/b/", "https://id.example.com:444", true),
            ("http://[::1]:8080/x", "http://[::1]:8080", false),
        ])
    func issuer(text: String, origin: String, isSecure: Bool) throws {
        let issuer = try read(["issuer": text]).issuer
        #expect(issuer.text == text)
        #expect(issuer.origin == origin)
        #expect(issuer.isSecure == isSecure)
    }

    @Test(
        "An issuer that is no plain http or https URL is a fault",
        arguments: [
            "id.example.com", "ftp://a.b", "https://", "https:///x", "https://a/?q", "https://a/#f", "https://u:p@a/",
            "https://a b", "//a.b", "https://a\\b",
        ])
    func badIssuer(text: String) { #expect(faults(["issuer": text]).map(\.key) == ["issuer"]) }

    @Test("Only an issuer at localhost or a loopback address counts as on this machine")
    func loopback() throws {
        for text in ["http://localhost:1", "http://127.0.0.2", "http://[::1]:1"] {
            #expect(try read(["issuer": text]).issuer.isLoopback)
        }
        #expect(try !read(["issuer": "http://10.0.0.1"]).issuer.isLoopback)
        #expect(try !read(["issuer": "http://127.example.com"]).issuer.isLoopback)
    }

    @Test(
        "The setting listen takes a host and a port",
        arguments: [
            ("127.0.0.1:8080", "127.0.0.1", 8080), ("[::1]:1", "::1", 1), ("localhost:65535", "localhost", 65535),
            ("0.0.0.0:80", "0.0.0.0", 80),
        ])
    func listen(text: String, host: String, port: Int) throws {
        let address = try read(["listen": text]).listen
        #expect(address == ListenAddress(host: host, port: port))
        #expect(address.description == text)
    }

    @Test(
        "A value of the setting listen that is no host and port is a fault",
        arguments: [
            "8080", ":8080", "a", "a:", "a:0", "a:65536", "a:-1", "a:+1", "::1:80", "[::1]", "[x]:1", "a b:1",
            "http://a:1",
        ])
    func badListen(text: String) { #expect(faults(["listen": text]).map(\.key) == ["listen"]) }

    @Test("The settings tls_certificate and tls_key need each other, and an issuer with https")
    func certificates() {
        #expect(faults(["tls_certificate": "c"]).map(\.key) == ["tls_key"])
        #expect(faults(["tls_key": "k"]).map(\.key) == ["tls_certificate"])
        #expect(
            faults(["tls_certificate": "c", "tls_key": "k", "issuer": "http://a"]).map(\.key) == ["issuer"])
    }

    @Test("The setting session_samesite can be none only if the issuer has https")
    func sameSite() throws {
        #expect(faults(["session_samesite": "none"]).map(\.key) == ["session_samesite"])
        #expect(try read(["session_samesite": "none", "issuer": "https://a"]).sessionSameSite == .none)
    }

    @Test("The master key must be given in one setting only, and with PostgreSQL it must be given")
    func masterKey() throws {
        let database = "postgresql://spindle:SECRET@db.example.com:5433/spindle"
        #expect(faults([:], ["SPINDLE_DATABASE": database]).map(\.key) == ["master_key_file"])
        #expect(faults(["master_key_file": "f"], ["SPINDLE_MASTER_KEY": inlineKey]).map(\.key) == ["master_key"])
        let configuration = try read([:], ["SPINDLE_DATABASE": database, "SPINDLE_MASTER_KEY": inlineKey])
        guard case .inline = configuration.masterKey else { return #expect(Bool(false), "the key was not taken") }
        #expect(configuration.database.description == "postgresql://db.example.com:5433/spindle")
    }

    @Test(
        "A database password in a URL is refused on the command line, in every spelling, and never printed",
        arguments: [
            "u:SECRET@db.example/s", "u:SEC?RET@db.example/s", "u:SEC/RET@db.example/s", "u:SEC@RET@db.example/s",
            "db.example/s?password=SECRET", "db.example/s?user=u&%70assword=SECRET", "db.example?sslpassword=SECRET",
        ])
    func databasePassword(_ rest: String) {
        let faults = faults(["database": "postgresql://\(rest)", "master_key_file": "f"])
        #expect(faults.map(\.key) == ["database"])
        #expect(!"\(faults)".contains("RET"))
        #expect(self.faults(["master_key_file": "f"], ["SPINDLE_DATABASE": "postgresql://\(rest)"]).isEmpty)
        #expect(DatabaseLocation("postgresql://\(rest)")?.description.contains("RET") == false)
    }

    @Test("A database setting in libpq's keyword form is refused without printing its password")
    func keywords() {
        for text in [
            "host=db dbname=s user=u password=SECRET", "password=SECRET host=db", " dbname=s ",
            "host=db password=SECRET dbname=s connect_timeout=10", "sslmode=disable TimeZone=Asia/Oslo",
            "host = db password = SECRET", "connect_timeout=1 password='SE CRET'",
        ] {
            let faults = faults(["master_key_file": "f"], ["SPINDLE_DATABASE": text])
            #expect(faults.map(\.key) == ["database"], "\(faults)")
            #expect(!"\(faults)".contains("SECRET"))
        }
        for path in ["host.db", "a=b.db", "/srv/host=1/x.db", "/srv/my hosts/x=1.db"] {
            #expect(DatabaseLocation(path)?.description == path)
        }
    }

    @Test(
        "A PostgreSQL URL without a password is accepted on the command line",
        arguments: [
            "db.example/s", "u@db.example:5433/s", "one:5432,two:5433/s?user=a@b", "[::1]:5432/s", "/s?host=/run",
            "u@db.example:1?user=a@b", "db.example/s?passfile=p&sslmode=require",
        ])
    func noPassword(_ rest: String) {
        #expect(faults(["database": "postgresql://\(rest)", "master_key_file": "f"]).isEmpty)
    }

    @Test(
        "The setting mail takes a folder or a mail server, whose password is not shown",
        arguments: [
            ("file:outbox", "the folder outbox"), ("file:/var/spool/spindle", "the folder /var/spool/spindle"),
            ("file:///var/spool/spindle", "the folder /var/spool/spindle"),
            ("smtp://ada:SECRET@mail.example:2525", "smtp://mail.example:2525"),
            ("smtps://mail.example", "smtps://mail.example:465"),
        ])
    func mail(text: String, description: String) throws {
        #expect(try read(["mail": text]).mail.description == description)
    }

    @Test(
        "A value of the setting mail that is no folder or mail server is a fault, which quotes nothing",
        arguments: [
            "outbox/", "file:", "file://host/outbox", "http://mail.example", "mailto:ada@example.com",
            "smtp://ada:SECRET@mail.example/inbox", "smtp://ada:SECRET@mail.example?starttls=no",
        ])
    func badMail(text: String) {
        let faults = faults(["mail": text])
        #expect(faults.map(\.key) == ["mail"])
        #expect(!"\(faults)".contains("SECRET"))
    }

    @Test(
        "Mail is sent from the issuer's host, unless the setting mail_from names another sender",
        arguments: [
            ("https://id.example.com:444/x", nil, "no-reply@id.example.com"),
            ("http://[::1]:8080", nil, "no-reply@[IPv6:::1]"),
            ("https://id.example.com", "Loom <hello@loom.example>", "Loom <hello@loom.example>"),
        ] as [(String, String?, String)])
    func sender(issuer: String, from: String?, expected: String) throws {
        var settings = ["issuer": issuer]
        settings["mail_from"] = from
        #expect(try read(settings).mailFrom.description == expected)
    }

    @Test("The setting deletion_grace is a number of whole days from 0 to 365")
    func grace() throws {
        #expect(try read(["deletion_grace": "0"]).deletionGrace == .zero)
        for text in ["-1", "366", "1.5", "two"] {
            #expect(faults(["deletion_grace": text]).map(\.key) == ["deletion_grace"])
        }
    }

    @Test("The setting key_rotation is a number of whole days from 7 to 3650, or 0 for never")
    func keyRotation() throws {
        #expect(try read([:]).keyRotation == .days(90))
        #expect(try read(["key_rotation": "7"]).keyRotation == .days(7))
        #expect(try read(["key_rotation": "0"]).keyRotation == nil)
        for text in ["1", "6", "-7", "3651", "7.5", "weekly"] {
            #expect(faults(["key_rotation": text]).map(\.key) == ["key_rotation"])
        }
    }

    @Test("Web addresses in settings are https or on this machine, and all but terms lose a trailing slash")
    func webAddresses() throws {
        let configuration = try read([
            "terms": "https://login.example.com/terms/", "facebook_api": "http://127.0.0.1:9/fb/",
            "google_api": "https://google.example/",
        ])
        #expect(configuration.terms == "https://login.example.com/terms/")
        #expect(configuration.facebookAPI == "http://127.0.0.1:9/fb")
        #expect(configuration.googleAPI == "https://google.example")
        for key in ["terms", "facebook_api", "google_api"] {
            for text in [
                "terms.html", "http://login.example.com/terms", "ftp://login.example.com/", "javascript:1",
                "httpfoo://login.example.com/", "https://login.example.com:65536/", "http://[::1]:0/",
            ] {
                #expect(faults([key: text]).map(\.key) == [key], "\(text)")
            }
        }
    }

    @Test("The setting basic_realm is text that needs no escaping in quotes, and doctor shows it")
    func basicRealm() throws {
        for text in ["a\"b", "a\\b", "a\nb", "ål", String(repeating: "x", count: 101)] {
            #expect(faults(["basic_realm": text]).map(\.key) == ["basic_realm"])
        }
        let configuration = try read([:], ["SPINDLE_BASIC_REALM": "Loom, 2 (x)"])
        #expect(configuration.basicRealm == "Loom, 2 (x)")
        #expect(try read().basicRealm == nil)
        let findings = ConfigurationDiagnosis.findings(configuration)
        #expect(findings.contains { $0.state == .warning && $0.detail.contains("basic_realm Loom, 2 (x)") })
    }

    @Test("Front-channel tokens are off by default, and doctor warns when they are on")
    func unsafeTokens() throws {
        #expect(try !read().unsafeFrontChannelTokens)
        #expect(faults(["unsafe_front_channel_tokens": "yes"]).map(\.key) == ["unsafe_front_channel_tokens"])
        let configuration = try read([:], ["SPINDLE_UNSAFE_FRONT_CHANNEL_TOKENS": "true"])
        #expect(configuration.unsafeFrontChannelTokens)
        let findings = ConfigurationDiagnosis.findings(configuration)
        #expect(findings.contains { $0.state == .warning && $0.detail.contains("unsafe_front_channel_tokens") })
    }

    @Test("The setting api_limit is a number of at least one")
    func apiLimit() throws {
        #expect(try read(["api_limit": "1"]).apiLimit == 1)
        for text in ["0", "-1", "many", "1.5"] { #expect(faults(["api_limit": text]).map(\.key) == ["api_limit"]) }
    }

    @Test(
        "An issuer that browsers would write in another form, or that cannot be reached, is refused",
        arguments: [
            "https://id.example:0", "https://id.example:65536", "https://id.example:", "https://1.2.3",
            "https://0x7f.1", "https://2130706433", "https://256.1.1.1", "https://id.example.1", "https://%69d.example",
            "https://-a.b", "https://a-.b", "https://a..b", "https://id.example.", "https://[::ffff:1.2.3.4]",
            "https://id.example/a/../b", "https://id.example/./b", "https://id.example/%2e%2e/b",
            "https://id.example/a%2Fb", "https://id.example/a%0Ab", "https://id.example/%zz", "https://id.example//a",
        ])
    func brokenIssuer(_ text: String) {
        #expect(faults(["issuer": text]).map(\.key) == ["issuer"])
    }

    @Test(
        "An issuer that all URL parsers read alike is accepted",
        arguments: [
            "https://ID.example:443", "http://localhost:8080/a/", "http://[0:0::1]:8080", "http://10.0.0.1",
            "https://xn--bcher-kva.example", "https://id.example/tenant_1", "https://3com.example", "http://intranet",
        ])
    func plainIssuer(_ text: String) { #expect(faults(["issuer": text]).isEmpty) }

    @Test("The issuer must be given if the listen address yields no valid one")
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

    @Test("An identity provider's address with a query is refused")
    func query() {
        for key in ["facebook_api", "google_api"] {
            for text in ["https://api.example/?key=x", "https://api.example?", "https://api.example/a?"] {
                #expect(faults([key: text]).map(\.key) == [key], "\(text)")
            }
        }
    }

    @Test(
        "The setting admin_listen must be another address than the setting listen",
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

    @Test("A faulty TLS file is reported by its setting; only an encrypted key is a configuration fault")
    func files() throws {
        let files = TLSSettings(certificate: "c.pem", key: "k.pem")
        let faults: [(TLSError, String, CommandFailure.Status)] = [
            (.unreadable(file: "c.pem", reason: "no"), "tls_certificate: cannot read c.pem: no", .failed),
            (.unreadable(file: "k.pem", reason: "no"), "tls_key: cannot read k.pem: no", .failed),
            (.noCertificate(file: "c.pem"), "tls_certificate: c.pem contains no PEM certificate", .failed),
            (.noKey(file: "k.pem"), "tls_key: k.pem contains no PEM private key", .failed),
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
