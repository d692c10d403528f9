import JSON
import Values

extension IssuerMetadata.NewSignIn {
    static let appleMembers = ["team_id", "key_id", "private_key"]

    /// A team's key at Apple, sealed in place of a secret, from which secrets are made when needed. Nil when `members`
    /// describe no key.
    static func appleKey(_ members: JSONMembers) throws(JSONFault) -> Secret<SignInSettings>? {
        guard appleMembers.contains(where: { members.any($0) != nil }) else { return nil }
        guard members.any("client_secret") == nil else { throw JSONFault("client_secret", "absent beside private_key") }
        let team = try members.required("team_id", most: 100)
        let id = try members.required("key_id", most: 100)
        // The file has several lines.
        guard let file = members.any("private_key")?.string, file.utf8.count <= 4000,
            AppleKey(team: team, id: id, file: file) != nil
        else {
            throw JSONFault("private_key", "the text of the .p8 file downloaded from Apple: a P-256 key in PEM")
        }
        return Secret(AppleKey.stored(team: team, id: id, file: file))
    }
}
