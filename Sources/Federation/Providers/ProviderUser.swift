import Authentication
import Directory
import JSON

/// A person as a provider describes them: what a new account is made of.
struct ProviderUser: Sendable {
    /// Only where the provider itself runs the mailbox, and so knows who reads it. Anything else would let who made an
    /// account there with somebody's address have it here.
    var email: EmailAddress?
    var profile: [JSON.Member] = []

    private static let longestName = 200

    /// Takes over a name as it is shown to people: without control characters, and not a long one.
    mutating func take(_ claim: String, _ value: JSON?) {
        guard let text = value?.string, (1...Self.longestName).contains(text.utf8.count),
            !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
        else { return }
        profile.append(.init(claim, .string(text)))
    }
}
