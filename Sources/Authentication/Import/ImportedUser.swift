import Cryptography
import Directory
import JSON
import Values

/// A line of an import: a user of another system, with its hash of their password.
struct ImportedUser: Sendable {
    let id: UserID
    let email: EmailAddress
    let emailVerified: Bool
    let passwordHash: PasswordHash?
    let profile: JSON
    let isDisabled: Bool

    private static let members: Set<String> = Set(
        ["email", "email_verified", "password", "password_hash", "disabled"] + User.claims.flatMap(\.value))

    init(line: [UInt8], random: any RandomSource) throws(ImportFault) {
        let json: JSON
        do { json = try JSON(parsing: line) } catch { throw ImportFault(error) }
        // A misspelt member would be silently lost for every user in the file.
        if let position = json.members?.firstIndex(where: { !Self.members.contains($0.name) }) {
            throw .unknownMember(name: json.members?[position].name.ifLikeAName, position: position + 1)
        }
        guard (json["password"] ?? .null) == .null else { throw .plainPassword }
        let changes: UserChanges
        do { changes = try UserChanges(json) } catch { throw .member(error) }
        guard let email = changes.email else { throw .member(JSONFault("email", "given")) }
        guard email.isOrdinary else { throw .member(UserChanges.unusualEmail) }
        id = .random(from: random)
        self.email = email
        emailVerified = changes.emailVerified ?? false
        passwordHash = try Self.passwordHash(json["password_hash"] ?? .null)
        profile = .object(changes.profile)
        isDisabled = changes.disabled == true
    }

    private static func passwordHash(_ json: JSON) throws(ImportFault) -> PasswordHash? {
        guard json != .null else { return nil }
        guard let text = json.string else { throw .member(JSONFault("password_hash", "a string")) }
        do { return try PasswordHash(imported: text) } catch { throw .passwordHash(error) }
    }
}
