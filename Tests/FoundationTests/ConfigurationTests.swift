import CommandLineTool
import Foundation
import Logging
import Mail
import Pages
import Testing
import Values

@testable import Server

/// What an operator sets, and how it is read.
@Suite struct ConfigurationTests: ConfigurationStory {
    @Test("Without any setting the documented defaults hold")
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
        #expect(configuration.logAddresses == .full)
        #expect(configuration.mail.description == "the folder outbox/")
        #expect(configuration.mailFrom.description == "no-reply@[127.0.0.1]")
        #expect(configuration.templates == nil && configuration.deletionGrace == .days(14))
        #expect(configuration.terms == nil && configuration.apiLimit == 360_000)
        #expect(configuration.facebookAPI == "https://graph.facebook.com")
        #expect(configuration.googleAPI == "https://oauth2.googleapis.com")
    }

    @Test("The issuer is kept verbatim, or made from listen; its origin is written as browsers write it")
    func origins() throws {
        let tls = ["tls_certificate": "c", "tls_key": "k"]
        for (settings, issuer, origin) in [
            (["issuer": "https://ID.example:443"], "https://ID.example:443", "https://id.example"),
            (["issuer": "http://LocalHost:8080/a/"], "http://LocalHost:8080/a/", "http://localhost:8080"),
            (["listen": "id.example:443"].merging(tls) { $1 }, "https://id.example", "https://id.example"),
            (["listen": "127.0.0.1:80"], "http://127.0.0.1", "http://127.0.0.1"),
            (["listen": "127.0.0.1:443"], "http://127.0.0.1:443", "http://127.0.0.1:443"),
        ] {
            let configuration = try read(settings)
            #expect(configuration.issuer.text == issuer)
            #expect(configuration.issuer.origin == origin)
        }
    }

    @Test("Every setting has a command line option, except those that may hold a secret")
    func options() throws {
        let secret: Set<ConfigurationKey> = [.masterKey, .mail, .sms, .smsSecret]
        let keys = ConfigurationKey.allCases.filter { !secret.contains($0) }
        let options = try ConfigurationOptions.parse(keys.flatMap { [$0.option, "value of \($0)"] })
        #expect(options.named == Dictionary(uniqueKeysWithValues: keys.map { ($0.rawValue, "value of \($0)") }))
        for key in secret { #expect(throws: (any Error).self) { try ConfigurationOptions.parse([key.option, "x"]) } }
    }

    @Test("A mistake in the templates folder is a configuration fault, which doctor reports too")
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
            #expect(failure.message.hasSuffix("sv.json, login.titel: no page uses this text"))
        }
        let finding = PagesDiagnosis.finding(configuration)
        #expect(finding.subject == "pages" && finding.state == .bad)
        #expect(finding.detail.hasPrefix("templates: \(folder)"))
        #expect(PagesDiagnosis.finding(try read()).state == .good)
        let other = URL(filePath: try file("spindle.css", "p {}")).deletingLastPathComponent()
        let good = PagesDiagnosis.finding(try read(["templates": other.path(percentEncoded: false)]))
        #expect(good.state == .good && good.detail.contains(other.path(percentEncoded: false)))
    }

    @Test("The command line overrides the environment, which overrides the file, which overrides the default")
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
        "Configuration files in JSON and YAML mean the same; a list is an array or separated by commas",
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

    @Test("A setting with an empty environment variable counts as not given")
    func empty() throws {
        let configuration = try read(
            [:], ["SPINDLE_LISTEN": "", "SPINDLE_TRUSTED_PROXIES": "", "SPINDLE_MASTER_KEY": ""])
        #expect(configuration.listen.port == 8080)
        #expect(configuration.masterKey.path == "spindle.db.key")
    }

    @Test("The setting sms takes a folder, or a gateway's address together with sms_secret")
    func texts() throws {
        #expect(try read().sms == nil)
        guard case .folder(let path) = try read([:], ["SPINDLE_SMS": "file:outbox/"]).sms else {
            Issue.record("no folder")
            return
        }
        #expect(path == "outbox/")
        let address = "https://sms.example.com/send?key=hidden"
        let secret = "0123456789abcdef"
        let gateway = try read([:], ["SPINDLE_SMS": address, "SPINDLE_SMS_SECRET": secret]).sms
        guard case .gateway(let url, let key) = gateway else {
            Issue.record("no gateway")
            return
        }
        #expect(url == address && key == secret && gateway?.description == "sms.example.com")
        #expect(faults([:], ["SPINDLE_SMS": address]).map(\.key) == ["sms_secret"])
        #expect(faults([:], ["SPINDLE_SMS": address, "SPINDLE_SMS_SECRET": "short"]).map(\.key) == ["sms_secret"])
        for text in ["http://sms.example.com/", "sms.example.com", "file:", "smtp://sms.example.com"] {
            #expect(faults([:], ["SPINDLE_SMS": text, "SPINDLE_SMS_SECRET": secret]).map(\.key) == ["sms"], "\(text)")
        }
    }

    @Test("Doctor tells where text messages go, and warns if they do not reach users")
    func textFindings() throws {
        func states(_ sms: String?, issuer: String) throws -> [Finding.State] {
            var environment = ["SPINDLE_ISSUER": issuer, "SPINDLE_SMS_SECRET": "0123456789abcdef"]
            environment["SPINDLE_SMS"] = sms
            let findings = TextDiagnosis.findings(try read([:], environment))
            #expect(findings.allSatisfy { !$0.detail.contains("hidden") })
            return findings.map(\.state)
        }
        #expect(try states(nil, issuer: "https://login.example.com") == [])
        #expect(try states("file:outbox/", issuer: "http://127.0.0.1:8080") == [.good])
        #expect(try states("file:outbox/", issuer: "https://login.example.com") == [.warning])
        #expect(try states("https://sms.example.com/?k=hidden", issuer: "https://login.example.com") == [.good])
        #expect(try states("http://127.0.0.1:9000/?k=hidden", issuer: "https://login.example.com") == [.warning])
    }

    @Test("All faults of a configuration are reported at once, each with its key and its place")
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
                "a.json",
                #"""
                {"log_format":"poem","log_addresses":"some","request_timeout":true,"idle_timeout":0,
                "max_connections":{"a":1}}
                """#))
        let expected = [
            "listen", "issuer", "session_samesite", "trusted_proxies", "log_level", "master_key", "database",
            "mail", "mail_from", "deletion_grace", "log_format", "log_addresses", "request_timeout", "idle_timeout",
            "max_connections",
        ]
        #expect(Set(faults.map(\.key)) == Set(expected))
        #expect(faults.first { $0.key == "listen" }?.place == "--listen")
        #expect(faults.first { $0.key == "issuer" }?.place == "SPINDLE_ISSUER")
        #expect(faults.first { $0.key == "log_format" }?.place?.contains("a.json") == true)
    }

    @Test("An unknown setting is a fault, except the environment variables that the tests use")
    func unknownNames() throws {
        let environment = [
            "SPINDLE_LISTENS": "x", "SPINDLE_BINARY": "x", "SPINDLE_TEST_SPEED": "x", "HOME": "/",
        ]
        #expect(faults([:], environment).map(\.key) == ["SPINDLE_LISTENS"])
        let nested = try file("a.json", #"{"log":{"level":"info"},"log-level":"info"}"#)
        #expect(faults(file: nested).map(\.key) == ["log", "log-level"])
        #expect(faults(file: try file("a.yaml", "mails: x\n")).map(\.key) == ["mails"])
    }

    @Test(
        "A configuration file's unknown setting is a fault even if null, and an empty mapping is one anywhere",
        arguments: [
            ("a.json", #"{"issuers":null,"maill":{},"listen":{},"terms":null}"#),
            ("a.yaml", "issuers:\nmaill: {}\nlisten: {}\nterms:\n"),
        ])
    func withoutValue(name: String, text: String) throws {
        #expect(faults(file: try file(name, text)).map(\.key).sorted() == ["issuers", "listen", "maill"])
    }

    @Test("A setting with U+0000 or invalid UTF-8 is a fault")
    func notText() throws {
        let cut = try file("a.json", #"{"database":"x.db\u0000y","trusted_proxies":["10.0.0.0/8\u0000"]}"#)
        #expect(
            faults([:], ["SPINDLE_TEMPLATES": "\u{FFFD}"], file: cut).map(\.key).sorted()
                == ["database", "templates", "trusted_proxies"])
        #expect(throws: CommandExit.self) { try BackupCommand.parse(["\u{FFFD}.db"]) }
    }

    @Test(
        "A malformed configuration file is one fault, which quotes nothing of the file",
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

    @Test("A missing configuration file is a fault")
    func missingFile() { #expect(faults(file: "/nonexistent/spindle.yaml").map(\.key) == ["--config"]) }

    @Test("Neither a printed configuration nor a configuration fault shows a secret")
    func secretsDoNotPrint() throws {
        let configuration = try read(
            ["mail": "smtps://ada:SECRET@mail.example"],
            ["SPINDLE_MASTER_KEY": inlineKey, "SPINDLE_DATABASE": "postgres://spindle:SECRET@db/x"])
        var dumped = ""
        dump(configuration, to: &dumped)
        for text in ["\(configuration)", String(reflecting: configuration), dumped] {
            #expect(!text.contains("SECRET") && !text.contains(inlineKey))
        }
        let faulty = faults([:], ["SPINDLE_MASTER_KEY": "SECRET", "SPINDLE_DATABASE": "mysql://u:SECRET@h"])
        #expect(faulty.count == 2 && !"\(faulty)".contains("SECRET"))
    }

    private func told(
        _ commandLine: [String: String] = [:], _ environment: [String: String] = [:], file: String? = nil
    ) -> [String] {
        faults(commandLine, environment, file: file).map(\.description)
    }

    private let issuer =
        "issuer: must be an absolute http or https URL without user, query and fragment, with a host, port and path "
        + "that all clients read alike"
    private let levels = "one of trace, debug, info, notice, warning, error, critical"

    @Test("Each invalid environment setting is a fault with its name and place")
    func environment() {
        let variables = [
            "SPINDLE_LISTEN": "nowhere", "SPINDLE_ISSUER": "ftp://x", "SPINDLE_REQUEST_TIMEOUT": "soon",
            "SPINDLE_MAX_CONNECTIONS": "-1", "SPINDLE_LOG_LEVEL": "loud", "SPINDLE_TRUSTED_PROXIES": "10.0.0.0/40",
            "SPINDLE_SESSION_SAMESITE": "maybe", "SPINDLE_NO_SUCH": "1", "SPINDLE_TLS_KEY": "k.pem",
        ]
        #expect(
            told([:], variables) == [
                "SPINDLE_NO_SUCH: must be left out: there is no such setting (the environment)",
                "listen: must be host:port, such as 127.0.0.1:8080 or [::1]:8080 (SPINDLE_LISTEN)",
                "tls_certificate: must be given with tls_key",
                "\(issuer) (SPINDLE_ISSUER)",
                "session_samesite: must be lax or none (SPINDLE_SESSION_SAMESITE)",
                "trusted_proxies: must be a list of networks in CIDR notation, such as 10.0.0.0/8 "
                    + "(SPINDLE_TRUSTED_PROXIES)",
                "request_timeout: must be a whole number of seconds from 1 to 3600 (SPINDLE_REQUEST_TIMEOUT)",
                "max_connections: must be a whole number of connections from 1 to 1000000 (SPINDLE_MAX_CONNECTIONS)",
                "log_level: must be \(levels) (SPINDLE_LOG_LEVEL)",
            ])
    }

    @Test("The variables that Kubernetes sets for services are ignored; misspelt settings are faults")
    func neighbours() {
        let theirs = [
            "SPINDLE_SERVICE_HOST": "10.0.0.1", "SPINDLE_SERVICE_PORT": "8080", "SPINDLE_SERVICE_PORT_HTTP": "8080",
            "SPINDLE_PORT": "tcp://10.0.0.1:8080", "SPINDLE_PORT_8080_TCP": "tcp://10.0.0.1:8080",
            "SPINDLE_PORT_8080_TCP_PROTO": "tcp", "SPINDLE_PORT_8080_TCP_PORT": "8080",
            "SPINDLE_PORT_8080_TCP_ADDR": "10.0.0.1", "SPINDLE_X_SERVICE_HOST": "10.0.0.2",
            "SPINDLE_X_PORT": "udp://10.0.0.2:53", "SPINDLE_X_PORT_53_UDP_ADDR": "10.0.0.2",
        ]
        #expect(told([:], theirs) == [])
        let unknown = "must be left out: there is no such setting (the environment)"
        #expect(
            told([:], ["SPINDLE_PORT": "8080", "SPINDLE_LISTNE": "127.0.0.1:8080"]) == [
                "SPINDLE_LISTNE: \(unknown)", "SPINDLE_PORT: \(unknown)",
            ])
    }

    @Test("An invalid command-line setting is reported with the setting's name and the option that set it")
    func commandLine() {
        #expect(
            told(["listen": "nowhere", "issuer": "ftp://x", "log_level": "loud"]) == [
                "listen: must be host:port, such as 127.0.0.1:8080 or [::1]:8080 (--listen)",
                "\(issuer) (--issuer)",
                "log_level: must be \(levels) (--log-level)",
            ])
        #expect(
            told(["database": "postgresql://nobody@127.0.0.1:1/x"]) == [
                "master_key_file: must be given with a PostgreSQL database, or else master_key"
            ])
    }

    @Test(
        "A database password is refused on the command line, and accepted in the environment",
        arguments: [
            ("spindle:secret@db/x", true), ("spindle:secret@a:1,b:2/x?a=b", true), ("db/x?password=secret", true),
            ("db/x?a=b&password=secret", true), ("spindle@db:5432/x", false), ("a:1,b:2/x", false),
            ("db/x?passfile=f", false), ("/x?host=/run/postgresql", false),
        ])
    func databasePassword(rest: String, isRefused: Bool) {
        let refusal =
            "database: must be given without a password on a command line, which others can read: use "
            + "SPINDLE_DATABASE or PGPASSWORD (--database)"
        let key = ["SPINDLE_MASTER_KEY": inlineKey]
        for scheme in ["postgresql://", "postgres://"] {
            #expect(told(["database": scheme + rest], key) == (isRefused ? [refusal] : []))
            #expect(told([:], key.merging(["SPINDLE_DATABASE": scheme + rest]) { $1 }) == [])
        }
    }

    @Test("Each invalid setting of a YAML file is a fault with its name and place")
    func yaml() throws {
        let file = try file("bad.yaml", "listen_on: x\nlisten: nowhere\nrequest_timeout: soon\nlog_level: loud\n")
        #expect(
            told(file: file) == [
                "listen_on: must be left out: there is no such setting (\(file))",
                "listen: must be host:port, such as 127.0.0.1:8080 or [::1]:8080 (listen in \(file))",
                "request_timeout: must be a whole number of seconds from 1 to 3600 (request_timeout in \(file))",
                "log_level: must be \(levels) (log_level in \(file))",
            ])
    }

    @Test("A malformed configuration file is a fault with the place of the mistake and no content")
    func unreadable() throws {
        let json = try file("bad.json", #"{"listen": "127.0.0.1:8080", "log_level": "info"#)
        #expect(told(file: json) == ["--config: must be valid JSON: not valid JSON at byte 47 (\(json))"])
        let yaml = try file("bad.yaml", "listen: a:1\nmaster_key: [SECRET\n")
        #expect(
            told(file: yaml) == [
                "--config: must be valid YAML: a mapping of keys to plain values and lists, each key once "
                    + "(\(yaml), line 3: did not find expected ',' or ']')"
            ])
        #expect(told(file: "missing.yaml") == ["--config: must be a file that can be read (missing.yaml)"])
        let array = try file("array.json", "[1]")
        #expect(told(file: array) == ["--config: must be a JSON object of plain values and arrays (\(array))"])
    }

    @Test(
        "A configuration file with a list of anything but texts is refused as a whole",
        arguments: [
            ("a.json", #"{"trusted_proxies":[["10.0.0.0/8"]]}"#), ("a.json", #"{"trusted_proxies":["10.0.0.0/8",1]}"#),
            ("a.yaml", "trusted_proxies: [[10.0.0.0/8]]"), ("a.yaml", "- trusted_proxies"),
        ])
    func lists(name: String, text: String) throws {
        #expect(faults(file: try file(name, text)).map(\.key) == ["--config"])
    }

    @Test("A null, empty text or empty list in a configuration file counts as a setting not given")
    func absent() throws {
        let json = try read(file: try file("a.json", #"{"listen":null,"terms":"","trusted_proxies":[]}"#))
        #expect(json.listen.port == 8080 && json.terms == nil && json.trustedProxies.isEmpty)
        let yaml = try read(file: try file("a.yaml", "listen:\nterms: ''\ntrusted_proxies: []\n"))
        #expect(yaml.listen.port == 8080 && yaml.terms == nil && yaml.trustedProxies.isEmpty)
    }
}
