import Authentication
import Directory
import JSON

/// A user as a provider describes them; a new user gets these data.
struct ProviderUser: Sendable {
    /// Set only if the provider itself runs the mailbox, and so knows its reader. Otherwise any user who registers
    /// there with another user's address would become that user here.
    var email: EmailAddress?
    var profile: [JSON.Member] = []

    private static let longestName = 200

    /// Takes over a name that is shown to users: without control characters, and at most 200 bytes.
    mutating func take(_ claim: String, _ value: JSON?) {
        guard let text = value?.string, (1...Self.longestName).contains(text.utf8.count),
            !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
        else { return }
        profile.append(.init(claim, .string(text)))
    }
}
