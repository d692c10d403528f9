import Cryptography
import Directory
import JSON
public import Values

/// A line of an import: a user of another system, with the hash of their password and the ids that clients know.
public struct ImportedUser: Sendable {
    public let line: Int
    public let id: UserID
    /// Whether `id` comes from the other system.
    let keepsID: Bool
    let subject: String?
    let email: EmailAddress
    let emailVerified: Bool
    let passwordHash: PasswordHash?
    let profile: JSON
    let isDisabled: Bool
    let createdAt: Timestamp?
    /// Their subjects at identity providers.
    public let identities: [Identity]
    /// The clients that they use, and what they allowed those that ask.
    public let consents: [ImportedConsent]

    /// A user's subject at one of a merchant's identity providers.
    public struct Identity: Sendable, Hashable {
        /// The id of the issuer here.
        public let issuer: String
        public let subject: String

        public init(issuer: String, subject: String) {
            self.issuer = issuer
            self.subject = subject
        }
    }

    private static let members: Set<String> = Set(
        [
            "email", "email_verified", "password", "password_hash", "disabled", "user_id", "sub", "created",
            "identities", "consents",
        ] + User.claims.flatMap(\.value))

    init(line text: [UInt8], number: Int, at now: Timestamp, random: any RandomSource) throws(ImportFault) {
        let json: JSON
        do { json = try JSON(parsing: text) } catch { throw ImportFault(error) }
        // A misspelt member would be silently lost for every user in the file.
        if let position = json.members?.firstIndex(where: { !Self.members.contains($0.name) }) {
            throw .unknownMember(name: json.members?[position].name.ifLikeAName, position: position + 1)
        }
        guard (json["password"] ?? .null) == .null else { throw .plainPassword }
        line = number
        do throws(JSONFault) {
            let changes = try UserChanges(json)
            guard let email = changes.email else { throw JSONFault("email", "given") }
            guard email.isOrdinary else { throw UserChanges.unusualEmail }
            self.email = email
            emailVerified = changes.emailVerified ?? false
            profile = .object(changes.profile)
            isDisabled = changes.disabled == true
            let members = try JSONMembers(json)
            let kept = try Self.id(members)
            id = kept ?? .random(from: random)
            keepsID = kept != nil
            subject = try Self.subject(members, of: kept)
            createdAt = try Self.created(members, at: now)
            identities = try Self.identities(members)
            consents = try ImportedConsent.list(members, at: now)
        } catch {
            throw .member(error)
        }
        passwordHash = try Self.passwordHash(json["password_hash"] ?? .null)
    }

    private static func passwordHash(_ json: JSON) throws(ImportFault) -> PasswordHash? {
        guard json != .null else { return nil }
        guard let text = json.string else { throw .member(JSONFault("password_hash", "a string")) }
        do { return try PasswordHash(imported: text) } catch { throw .passwordHash(error) }
    }
}
