import Cryptography
import Directory
import Values

/// A client with a secret that forwards sign-ins of its visitors: all come from its address, so attempts there count
/// together, even where the user is known.
struct Intermediary: Sendable {
    /// What it counts together with: the other backends of its merchant, which can make as many as it likes. An app
    /// counts alone, because every copy of it contains the secret.
    let share: String
    /// Whether attempts are charged to it instead of its address.
    let answersForItself: Bool

    /// Nil for a client without a secret.
    init?(_ client: Client) {
        guard client.may(.signInVisitors) else { return nil }
        answersForItself = client.may(.answerForItself)
        share = answersForItself ? client.merchant?.text ?? "" : "app \(client.id)"
    }
}

extension HashingPool {
    /// Whose turn it is when a password from `address` is hashed. An IPv6 site has so many networks that it could fill
    /// the queue with one caller from each, so the whole site takes one turn.
    static func sender(_ address: String) -> String { IPAddress.site(of: address) ?? address }
}
