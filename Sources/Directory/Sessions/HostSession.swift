public import Values

/// What a browser holds at a host of a client's site, in place of the session cookie that it does not send from there
/// (docs/decisions/session-hosts.md).
public enum HostSession {
    /// Hands a session over to one of these hosts, once.
    public enum Code {
        public static let lifetime: Duration = .seconds(60)
    }

    /// A browser, as it is known at one such host.
    public enum Browser {}

    /// Where a session is handed over to.
    public struct Place: Sendable {
        let host: String
        let client: Client.ID
        let browser: Fingerprint<Browser>

        public init(host: String, client: Client.ID, browser: Fingerprint<Browser>) {
            self.host = host
            self.client = client
            self.browser = browser
        }
    }
}
