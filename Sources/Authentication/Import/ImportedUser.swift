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

/// The ids of the other system that a line keeps.
extension ImportedUser {
    /// `user_id`, a number or its text: any that a JSON reader keeps exact.
    static func id(_ members: JSONMembers) throws(JSONFault) -> UserID? {
        guard let value = members.any("user_id") else { return nil }
        guard let id = UserID(value.integer.map { String($0) } ?? value.string ?? "") else {
            throw JSONFault("user_id", "a whole number above 0 and below 2^53")
        }
        return id
    }

    /// `sub` (OpenID Connect Core §2: at most 255 ASCII characters). A number or a UUID in this server's format is
    /// refused: it belongs, or will belong, to a user here.
    static func subject(_ members: JSONMembers, of id: UserID?) throws(JSONFault) -> String? {
        guard let text = try members.text("sub", most: 255) else { return nil }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw JSONFault("sub", "at most 255 printable ASCII characters without spaces")
        }
        if let id, UserID(text) == id { return nil }
        guard UserID(text) == nil, UserUUID(text) == nil else {
            throw JSONFault("sub", "no number, unless it is the user_id")
        }
        return text
    }

    static func created(_ members: JSONMembers, at now: Timestamp) throws(JSONFault) -> Timestamp? {
        guard let value = members.any("created") else { return nil }
        guard let seconds = value.integer, (0...now.seconds).contains(seconds) else {
            throw JSONFault("created", "unix seconds in the past")
        }
        return Timestamp(milliseconds: seconds * 1000)
    }

    static func identities(_ members: JSONMembers) throws(JSONFault) -> [Identity] {
        let fault = JSONFault("identities", "at most 20 objects of issuer_id and subject")
        guard let value = members.any("identities") else { return [] }
        guard let list = value.array, list.count <= 20 else { throw fault }
        var identities: [Identity] = []
        for json in list {
            let names = Set((json.members ?? []).map(\.name))
            guard names == ["issuer_id", "subject"], let issuer = json["issuer_id"]?.string,
                let subject = json["subject"]?.string, (1...255).contains(subject.utf8.count),
                (1...200).contains(issuer.utf8.count), !subject.utf8.contains(0), !issuer.utf8.contains(0)
            else { throw fault }
            let identity = Identity(issuer: issuer, subject: subject)
            guard !identities.contains(identity) else { throw fault }
            identities.append(identity)
        }
        return identities
    }
}
