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
                                  Networks whose Forwarded headers are believed.
          --outbound-allow-private <cidr,…>
                                  Private networks that outgoing requests may reach.
          --request-timeout <seconds>
                                  How long a client may take to send a request.
          --idle-timeout <seconds>
                                  How long a connection may stay silent.
          --max-connections <count>
                                  How many connections there may be.
          --mail-from <sender>    Who mails are from, as in Example
                                  <no-reply@example.com>.
          --templates <folder>    A folder of pages, texts and styles in the place of
                                  ours.
          --deletion-grace <days> How long a deleted account can be had back.
          --key-rotation <days>   How old a signing key gets; 0 for no rotation by
                                  itself.
          --terms <url>           The terms of the platform.
          --privacy <url>         The privacy policy of the platform.
          --api-limit <count>     How many calls of SPiD's API a client may make an
                                  hour.
          --introspection-cache <seconds>
                                  How long a caller may keep what it was told about a
                                  live token.
          --facebook-api <url>    Where Facebook's tokens are asked about.
          --google-api <url>      Where Google's tokens are asked about.
          --basic-realm <realm>   Take people's passwords by HTTP Basic in this realm,
                                  too.
          --unsafe-front-channel-tokens <flag>
                                  Give self-registered clients access tokens in
                                  addresses; true or false.
          --log-level <level>     From trace to critical.
          --log-format <format>   text or json.
        """

    /// The options of every command.
    static let builtIns = """
          --version               Show the version.
          -h, --help              Show help information.
        """
}
