import Directory
public import JSON
import Text

/// A user's changes to their own profile: each field is set to a text or removed.
public struct ProfileChanges: Sendable {
    let set: [JSON.Member]
    /// The claims that were submitted, set or removed.
    let named: Set<String>

    /// The claims that users may set themselves; others come from merchants' documents or not at all.
    public static let fields = ["name", "given_name", "family_name", "phone_number", "locale"]

    /// The longest field, in bytes of UTF-8.
    public static let longest = User.longestClaim

    /// - Parameter field: the submitted text; nil for a field that was not submitted, which stays as it is.
    public init(_ field: (String) -> String?) throws(JSONFault) {
        var members: [JSON.Member] = []
        var named: Set<String> = []
        for name in Self.fields {
            guard let text = field(name) else { continue }
            named.insert(name)
            // Direction marks stay: they are part of a name.
            let trimmed = text.trimmingScalars(while: \.isWhiteSpace)
            if !trimmed.isEmpty { members.append(.init(name, .string(trimmed))) }
        }
        // Checked like administration's documents: one rule for what a profile can contain.
        self.set = try UserChanges(.object(members)).profile
        self.named = named
    }
}
