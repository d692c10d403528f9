import ArgumentParser
import Foundation
import Logging
import Mail
import Pages
import Testing
import Values

@testable import Deployment

/// What an operator sets, and what it becomes.
@Suite struct ConfigurationTests {
    private let inlineKey = Data(repeating: 7, count: 32).base64EncodedString()

    private func read(
        _ commandLine: [String: String] = [:], _ environment: [String: String] = [:], file: String? = nil
    ) throws -> SpindleConfiguration {
        try SpindleConfiguration.read(commandLine: commandLine, environment: environment, file: file)
    }

    private func faults(
        _ commandLine: [String: String] = [:], _ environment: [String: String] = [:], file: String? = nil
    ) -> [ConfigurationFault] {
        do {
            _ = try read(commandLine, environment, file: file)
            return []
        } catch let faults as ConfigurationFaults {
            return faults.faults
        } catch {
            Issue.record(error)
            return []
        }
    }

    /// The path of a file with `text`, in a folder of its own.
    private func file(_ name: String, _ text: String) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "spindle-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: name)
        try Data(text.utf8).write(to: file)
        return file.path(percentEncoded: false)
    }

    @Test("without any setting, the defaults that are promised")
    func defaults() throws {
        let configuration = try read()
        #expect(configuration.listen.description == "127.0.0.1:8080")
        #expect(configuration.issuer.text == "http://127.0.0.1:8080")
        #expect(configuration.database.description == "spindle.db")
        #expect(configuration.masterKey.path == "spindle.db.key")
        #expect(configuration.adminListen == nil && configuration.tls == nil)
        #expect(configuration.sessionSameSite == .lax)
        #expect(configuration.trustedProxies.isEmpty && configuration.outboundAllowPrivate.isEmpty)
        #expect(configuration.requestTimeout == .seconds(10) && configuration.idleTimeout == .seconds(60))
        #expect(configuration.maxConnections == 4096)
        #expect(configuration.logLevel == .info && configuration.logFormat == .text)
        #expect(configuration.mail.description == "the folder outbox/")
        #expect(configuration.mailFrom.description == "no-reply@[127.0.0.1]")
        #expect(configuration.templates == nil && configuration.deletionGrace == .days(14))
        #expect(configuration.terms == nil && configuration.apiLimit == 360_000)
        #expect(configuration.facebookAPI == "https://graph.facebook.com")
        #expect(configuration.googleAPI == "https://oauth2.googleapis.com")
    }

    @Test("every setting has an option, except those that may hold a secret")
    func options() throws {
        let secret: Set<ConfigurationKey> = [.masterKey, .mail]
        let keys = ConfigurationKey.allCases.filter { !secret.contains($0) }
        let options = try ConfigurationOptions.parse(keys.flatMap { [$0.option, "value of \($0)"] })
        #expect(options.named == Dictionary(uniqueKeysWithValues: keys.map { ($0.rawValue, "value of \($0)") }))
        for key in secret { #expect(throws: (any Error).self) { try ConfigurationOptions.parse([key.option, "x"]) } }
    }

    @Test("a folder of pages with a mistake is a fault of the setting, and no reason to start again and again")
    func templates() throws {
        let path = URL(filePath: try file("sv.json", #"{"login.titel": "Logga in"}"#)).deletingLastPathComponent()
        let folder = path.path(percentEncoded: false)
        let configuration = try read(["templates": folder])
        do {
            _ = try Templates(configuration)
            Issue.record("it was read")
        } catch {
            let failure = try #require(CommandFailure(error))
            #expect(failure.status == .configuration)
            #expect(failure.message.hasPrefix("templates: \(folder)"))
            #expect(failure.message.hasSuffix("sv.json, login.titel: no page has such a text"))
        }
        let finding = PagesDiagnosis.finding(configuration)
        #expect(finding.subject == "pages" && finding.state == .bad)
        #expect(finding.detail.hasPrefix("templates: \(folder)"))
        #expect(PagesDiagnosis.finding(try read()).state == .good)
        let other = URL(filePath: try file("spindle.css", "p {}")).deletingLastPathComponent()
        let good = PagesDiagnosis.finding(try read(["templates": other.path(percentEncoded: false)]))
        #expect(good.state == .good && good.detail.contains(other.path(percentEncoded: false)))
    }

    @Test("the command line beats the environment, which beats the file, which beats the default")
    func order() throws {
        let file = try file("spindle.json", #"{"listen":"127.0.0.1:3","database":"f.db","log_level":"error"}"#)
        let configuration = try read(
            ["listen": "127.0.0.1:1"], ["SPINDLE_LISTEN": "127.0.0.1:2", "SPINDLE_DATABASE": "e.db"], file: file)
        #expect(configuration.listen.port == 1)
        #expect(configuration.database.description == "e.db")
        #expect(configuration.logLevel == .error)
        #expect(configuration.logFormat == .text)
    }

    @Test(
        "JSON and YAML say the same, with lists as arrays or separated by commas",
        arguments: [
            (
                "a.json",
                #"{"trusted_proxies":["10.0.0.0/8","::1/128"],"max_connections":5,"tls_key":"k","tls_certificate":"c"}"#
            ),
            (
                "a.json",
                #"{"trusted_proxies":"10.0.0.0/8, ::1/128","max_connections":"5","tls_key":"k","tls_certificate":"c"}"#
            ),
            (
                "a.yaml",
                "trusted_proxies: [10.0.0.0/8, '::1/128']\nmax_connections: 5\ntls_key: k\ntls_certificate: c\n"
            ),
            ("a.yml", "trusted_proxies: '10.0.0.0/8,::1/128'\nmax_connections: '5'\ntls_key: k\ntls_certificate: c\n"),
        ])
    func forms(name: String, text: String) throws {
        let configuration = try read(file: try file(name, text))
        #expect(configuration.trustedProxies.map(\.description) == ["10.0.0.0/8", "::1/128"])
        #expect(configuration.maxConnections == 5)
        #expect(configuration.tls == .init(certificate: "c", key: "k"))
        #expect(configuration.issuer.text == "https://127.0.0.1:8080")
    }

    @Test("a setting without a value counts as not given")
    func empty() throws {
        let configuration = try read(
            [:], ["SPINDLE_LISTEN": "", "SPINDLE_TRUSTED_PROXIES": "", "SPINDLE_MASTER_KEY": ""])
        #expect(configuration.listen.port == 8080)
        #expect(configuration.masterKey.path == "spindle.db.key")
    }

    @Test("every fault is told at once, with its key and where it stands")
    func everyFault() throws {
        let faults = faults(
            ["listen": "nonsense"],
            [
                "SPINDLE_ISSUER": "not a url", "SPINDLE_SESSION_SAMESITE": "perhaps",
                "SPINDLE_TRUSTED_PROXIES": "10.0.0.0/8,300.1.1.1/99", "SPINDLE_LOG_LEVEL": "loud",
                "SPINDLE_MASTER_KEY": "c2hvcnQ=", "SPINDLE_DATABASE": "mysql://localhost/x",
                "SPINDLE_MAIL": "mail.example.com:25", "SPINDLE_MAIL_FROM": "nobody",
                "SPINDLE_DELETION_GRACE": "366",
            ],
            file: try file(
                "a.json", #"{"log_format":"poem","request_timeout":true,"idle_timeout":0,"max_connections":{"a":1}}"#))
        let expected = [
            "listen", "issuer", "session_samesite", "trusted_proxies", "log_level", "master_key", "database",
            "mail", "mail_from", "deletion_grace", "log_format", "idle_timeout", "max_connections.a",
        ]
        #expect(Set(faults.map(\.key)) == Set(expected))
        #expect(faults.first { $0.key == "listen" }?.place == "--listen")
        #expect(faults.first { $0.key == "issuer" }?.place == "SPINDLE_ISSUER")
        #expect(faults.first { $0.key == "log_format" }?.place?.contains("a.json") == true)
    }

    @Test("a name nobody knows is a fault, unless it is the tests' own")
    func unknownNames() throws {
        let environment = [
            "SPINDLE_LISTENS": "x", "SPINDLE_BINARY": "x", "SPINDLE_TEST_SPEED": "x", "HOME": "/",
        ]
        #expect(faults([:], environment).map(\.key) == ["SPINDLE_LISTENS"])
        let nested = try file("a.json", #"{"log":{"level":"info"},"log-level":"info"}"#)
        #expect(faults(file: nested).map(\.key) == ["log-level", "log.level"])
        #expect(faults(file: try file("a.yaml", "mails: x\n")).map(\.key) == ["mails"])
    }

    @Test(
        "a file that cannot be read as what it is called is one fault that quotes nothing",
        arguments: [
            ("a.json", #"{"master_key": "SECRET""#), ("a.json", #"{"listen":"a:1","listen":"SECRET:1"}"#),
            ("a.json", "[1]"), ("a.yaml", "master_key: [SECRET"), ("a.yaml", "listen: SECRET\nlisten: SECRET\n"),
            ("a.toml", "master_key = 'SECRET'"),
        ])
    func unreadableFile(name: String, text: String) throws {
        let faults = faults(file: try file(name, text))
        #expect(faults.map(\.key) == ["--config"])
        #expect(!"\(faults)".contains("SECRET"))
    }

    @Test("a file that is not there is a fault")
    func missingFile() { #expect(faults(file: "/nonexistent/spindle.yaml").map(\.key) == ["--config"]) }

    @Test(
        "the issuer is kept verbatim, and its origin is scheme, host and port",
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
        "an issuer that is no plain http or https URL is a fault",
        arguments: [
            "id.example.com", "ftp://a.b", "https://", "https:///x", "https://a/?q", "https://a/#f", "https://u:p@a/",
            "https://a b", "//a.b", "https://a\\b",
        ])
    func badIssuer(text: String) { #expect(faults(["issuer": text]).map(\.key) == ["issuer"]) }

    @Test("an issuer of this machine is told from one that others reach")
    func loopback() throws {
        for text in ["http://localhost:1", "http://127.0.0.2", "http://[::1]:1"] {
            #expect(try read(["issuer": text]).issuer.isLoopback)
        }
        #expect(try !read(["issuer": "http://10.0.0.1"]).issuer.isLoopback)
        #expect(try !read(["issuer": "http://127.example.com"]).issuer.isLoopback)
    }

    @Test(
        "an address to listen at is host and port",
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
        "anything else to listen at is a fault",
        arguments: [
            "8080", ":8080", "a", "a:", "a:0", "a:65536", "a:-1", "a:+1", "::1:80", "[::1]", "[x]:1", "a b:1",
            "http://a:1",
        ])
    func badListen(text: String) { #expect(faults(["listen": text]).map(\.key) == ["listen"]) }

    @Test("certificate and key come together, and then the issuer is https")
    func certificates() {
        #expect(faults(["tls_certificate": "c"]).map(\.key) == ["tls_key"])
        #expect(faults(["tls_key": "k"]).map(\.key) == ["tls_certificate"])
        #expect(
            faults(["tls_certificate": "c", "tls_key": "k", "issuer": "http://a"]).map(\.key) == ["issuer"])
    }

    @Test("SameSite=None needs https")
    func sameSite() throws {
        #expect(faults(["session_samesite": "none"]).map(\.key) == ["session_samesite"])
        #expect(try read(["session_samesite": "none", "issuer": "https://a"]).sessionSameSite == .none)
    }

    @Test("the master key is given once, and on PostgreSQL it must be")
    func masterKey() throws {
        let database = "postgresql://spindle:SECRET@db.example.com:5433/spindle"
        #expect(faults(["database": database]).map(\.key) == ["master_key_file"])
        #expect(faults(["master_key_file": "f"], ["SPINDLE_MASTER_KEY": inlineKey]).map(\.key) == ["master_key"])
        let configuration = try read(["database": database], ["SPINDLE_MASTER_KEY": inlineKey])
        guard case .inline = configuration.masterKey else { return #expect(Bool(false), "the key was not taken") }
        #expect(configuration.database.description == "postgresql://db.example.com:5433/spindle")
    }

    @Test(
        "mail goes to a folder or a mail server",
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
        "mail that would go anywhere else is a fault that quotes nothing",
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
        "mail is from the issuer's host unless said otherwise",
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

    @Test("a grace period is whole days, and may be none")
    func grace() throws {
        #expect(try read(["deletion_grace": "0"]).deletionGrace == .zero)
        for text in ["-1", "366", "1.5", "two"] {
            #expect(faults(["deletion_grace": text]).map(\.key) == ["deletion_grace"])
        }
    }

    @Test("addresses on the web are https, or on this machine; only that of terms keeps its last slash")
    func webAddresses() throws {
        let configuration = try read([
            "terms": "https://login.example.com/terms/", "facebook_api": "http://127.0.0.1:9/fb/",
            "google_api": "https://google.example/",
        ])
        #expect(configuration.terms == "https://login.example.com/terms/")
        #expect(configuration.facebookAPI == "http://127.0.0.1:9/fb")
        #expect(configuration.googleAPI == "https://google.example")
        for key in ["terms", "facebook_api", "google_api"] {
            for text in ["terms.html", "http://login.example.com/terms", "ftp://login.example.com/", "javascript:1"] {
                #expect(faults([key: text]).map(\.key) == [key], "\(text)")
            }
        }
    }

    @Test("a realm is what can be quoted, and known to who asks how the server is set up")
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

    @Test("a client's calls an hour are a number, and at least one")
    func apiLimit() throws {
        #expect(try read(["api_limit": "1"]).apiLimit == 1)
        for text in ["0", "-1", "many", "1.5"] { #expect(faults(["api_limit": text]).map(\.key) == ["api_limit"]) }
    }

    @Test("no secret of a configuration prints")
    func secretsDoNotPrint() throws {
        let configuration = try read(
            ["database": "postgres://spindle:SECRET@db/x", "mail": "smtps://ada:SECRET@mail.example"],
            ["SPINDLE_MASTER_KEY": inlineKey])
        var dumped = ""
        dump(configuration, to: &dumped)
        for text in ["\(configuration)", String(reflecting: configuration), dumped] {
            #expect(!text.contains("SECRET") && !text.contains(inlineKey))
        }
        let faulty = faults([:], ["SPINDLE_MASTER_KEY": "SECRET", "SPINDLE_DATABASE": "mysql://u:SECRET@h"])
        #expect(faulty.count == 2 && !"\(faulty)".contains("SECRET"))
    }
}
