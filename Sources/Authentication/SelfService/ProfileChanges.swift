import Directory
public import JOSE
import Text

/// What a person says about themselves: each field a text, or taken away.
public struct ProfileChanges: Sendable {
    let set: [JSON.Member]
    /// The claims that it decides on, set or not.
    let named: Set<String>

    /// The claims a person may set; the others come from merchants' documents or nowhere.
    public static let fields = ["name", "given_name", "family_name", "phone_number", "locale"]

    /// How many bytes of UTF-8 a field can hold.
    public static let longest = User.longestClaim

    /// - Parameter field: what was filled in; nil for a field that was not there, which stays as it is.
    public init(_ field: (String) -> String?) throws(JSONFault) {
        var members: [JSON.Member] = []
        var named: Set<String> = []
        for name in Self.fields {
            guard let text = field(name) else { continue }
            named.insert(name)
            // Marks of direction stay: they are part of a name.
            let trimmed = text.trimmingScalars(while: \.isWhiteSpace)
            if !trimmed.isEmpty { members.append(.init(name, .string(trimmed))) }
        }
        // Judged as administration's documents are: one rule for what a profile can hold.
        self.set = try UserChanges(.object(members)).profile
        self.named = named
    }
}
