/// Somebody elsewhere who may sign in to the person's account.
public struct LinkItem: Sendable {
    let issuer: String
    let subject: String
    let name: String
    let since: String

    /// - Parameters:
    ///   - issuer: by which number we know who says so.
    ///   - subject: the person's name there.
    ///   - name: who that is, as people call them.
    ///   - since: in UTC, as `2026-11-21 10:58`.
    public init(issuer: String, subject: String, name: String, since: String) {
        self.issuer = issuer
        self.subject = subject
        self.name = name
        self.since = since
    }

    var words: [String: Any] { ["issuer": issuer, "subject": subject, "name": name, "since": since] }
}
