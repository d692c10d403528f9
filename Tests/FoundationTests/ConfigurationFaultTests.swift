import Testing

@testable import Server

/// What an operator reads whose configuration is wrong: every fault at once, word by word.
@Suite struct ConfigurationFaultTests: ConfigurationStory {
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

    @Test("Each invalid command-line setting is a fault with its name and place")
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
        "A database password is refused on the command line, where others can read it, and only there",
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
        "A list with anything but plain values is a fault of the file",
        arguments: [
            ("a.json", #"{"trusted_proxies":[["10.0.0.0/8"]]}"#), ("a.json", #"{"trusted_proxies":["10.0.0.0/8",1]}"#),
            ("a.yaml", "trusted_proxies: [[10.0.0.0/8]]"), ("a.yaml", "- trusted_proxies"),
        ])
    func lists(name: String, text: String) throws {
        #expect(faults(file: try file(name, text)).map(\.key) == ["--config"])
    }

    @Test("A null or empty setting counts as not given")
    func absent() throws {
        let json = try read(file: try file("a.json", #"{"listen":null,"terms":"","trusted_proxies":[]}"#))
        #expect(json.listen.port == 8080 && json.terms == nil && json.trustedProxies.isEmpty)
        let yaml = try read(file: try file("a.yaml", "listen:\nterms: ''\ntrusted_proxies: []\n"))
        #expect(yaml.listen.port == 8080 && yaml.terms == nil && yaml.trustedProxies.isEmpty)
    }
}
