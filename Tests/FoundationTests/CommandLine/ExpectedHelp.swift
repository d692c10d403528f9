import Testing

/// What `--help` prints for a command, word by word and column by column.
struct ExpectedHelp: Sendable, CustomTestStringConvertible {
    let command: String
    let text: String

    init(_ command: String, _ text: String) {
        self.command = command
        self.text = text
    }

    static let all = program + merchant + client + user + key

    var words: [String] { command.split(separator: " ").map(String.init) }
    var testDescription: String { "spindle \(command)" }

    /// The section of every command that does work.
    static let configuration = """
        CONFIGURATION:
          --config <file>         Read settings from FILE, JSON or YAML.
          --listen <host:port>    Listen at HOST:PORT.
          --issuer <url>          The issuer, verbatim.
          --database <database>   A SQLite path, or postgresql://…
          --master-key-file <file>
                                  The file of the master key.
          --admin-listen <host:port>
                                  Serve /admin there only.
          --tls-certificate <file>
                                  The certificate chain, PEM.
          --tls-key <file>        The certificate's private key, PEM.
          --session-samesite <policy>
                                  lax or none.
          --trusted-proxies <cidr,…>
                                  Networks whose Forwarded headers are trusted.
          --outbound-allow-private <cidr,…>
                                  Private networks that outgoing requests may reach.
          --request-timeout <seconds>
                                  Seconds a client may take to send a request, 1 to
                                  3600.
          --idle-timeout <seconds>
                                  Seconds a connection may stay silent between
                                  requests, 1 to 3600.
          --max-connections <count>
                                  Connections open at once at each address, 1 to
                                  1000000.
          --mail-from <sender>    The sender of mails, such as Example
                                  <no-reply@example.com>.
          --templates <folder>    A folder of pages, texts and styles that replace ours.
          --deletion-grace <days> Days in which a user who asked for deletion can
                                  cancel it, 0 to 365.
          --key-rotation <days>   Days after which the next signing key takes over, 7
                                  to 3650; 0 is never.
          --terms <url>           The terms of the platform.
          --privacy <url>         The privacy policy of the platform.
          --api-limit <count>     Calls of SPiD's API that a client may make in an hour
                                  from the first of them, 1 to 1000000000; at most a
                                  tenth of them with one user's tokens. Each node
                                  counts separately, in memory.
          --introspection-cache <seconds>
                                  Seconds a caller may cache the answer about a live
                                  token, 0 to 3600.
          --facebook-api <url>    Where Facebook's tokens are checked.
          --google-api <url>      Where Google's tokens are checked.
          --basic-realm <realm>   Also accept users' passwords by HTTP Basic, in this
                                  realm.
          --unsafe-front-channel-tokens <flag>
                                  Give self-registered clients access tokens in URLs;
                                  true or false.
          --log-level <level>     From trace to critical.
          --log-format <format>   text or json.
        """

    /// The options of every command.
    static let builtIns = """
          --version               Show the version.
          -h, --help              Show help information.
        """
}
