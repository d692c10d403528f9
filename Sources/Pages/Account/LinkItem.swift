/// An issuer that the user has linked, to sign in with it.
public struct LinkItem: Sendable {
    let issuer: String
    let subject: String
    let name: String
    let since: String

    /// - Parameters:
    ///   - issuer: our id of it.
    ///   - subject: its identifier of the user.
    ///   - name: what users call it.
    ///   - since: in UTC, as `2026-11-21 10:58`.
    public init(issuer: String, subject: String, name: String, since: String) {
        self.issuer = issuer
        self.subject = subject
        self.name = name
        self.since = since
    }

    var words: [String: Any] { ["issuer": issuer, "subject": subject, "name": name, "since": since] }
}
