package import Directory
import JSON

/// Profile members that are shown differently from how they are stored.
extension User {
    /// A claim of the profile; empty when the user has none.
    func claim(_ name: String) -> String { profile[name]?.string ?? "" }

    var formattedName: String {
        guard claim("name").isEmpty else { return claim("name") }
        return [claim("given_name"), claim("family_name")].filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// The user's name on a page: the nickname, or else the name.
    package var displayedName: String { claim("nickname").isEmpty ? formattedName : claim("nickname") }

    var gender: String { ["male", "female"].contains(claim("gender")) ? claim("gender") : "undisclosed" }
}
