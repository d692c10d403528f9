import Directory
import Values

/// A client with a secret, at whose form people sign in from wherever they are: its address is every visitor's, so
/// attempts there count together also where the user is known.
struct Intermediary: Sendable {
    /// What it counts with: the other backends of its merchant, which makes as many as it likes. Whoever has an app has
    /// the secret in it, so an app counts alone.
    let share: String
    /// Whether only a server has its secret. What is reserved for backends is for these.
    let isBackend: Bool

    /// Nil for a client without a secret.
    init?(_ client: Client) {
        guard !client.isPublic else { return nil }
        isBackend = client.isBackend
        share = client.isBackend ? client.merchant?.text ?? "" : "app \(client.id)"
    }
}
