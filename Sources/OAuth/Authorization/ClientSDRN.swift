public import Directory
public import Values

extension Client.ID {
    /// The client in the resource name that SPiD's SDKs for browsers send: `sdrn:spid.no:client:ID`. Nil for any other
    /// text.
    public init?(sdrn text: String) {
        guard let match = text.wholeMatch(of: /sdrn:[A-Za-z0-9.\-]{1,100}:client:([A-Za-z0-9._\-]{1,100})/) else {
            return nil
        }
        self.init(String(match.output.1))
    }
}
