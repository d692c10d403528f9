import Directory
import Values

/// A client with a secret, at whose form people sign in from wherever they are: its address is every visitor's, so
/// attempts there count together also where the user is known.
struct Intermediary: Sendable {
    /// What it counts with: the other backends of its merchant, which makes as many as it likes. Whoever has an app has
    /// the secret in it, so an app counts alone.
    let share: String
    /// Whether it counts in place of the address that it calls from.
    let answersForItself: Bool

    /// Nil for a client without a secret.
    init?(_ client: Client) {
        guard client.may(.signInVisitors) else { return nil }
        answersForItself = client.may(.answerForItself)
        share = answersForItself ? client.merchant?.text ?? "" : "app \(client.id)"
    }
}
