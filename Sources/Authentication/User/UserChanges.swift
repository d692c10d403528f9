import Cryptography
import Directory
public import JSON
import Values

/// The changes to a user in a document of administration.
public struct UserChanges: Sendable {
    /// The number and the `sub` that a new user is given.
    let id: UserID?
    let subject: String?
    let email: EmailAddress?
    let emailVerified: Bool?
    let password: Password?
    let disabled: Bool?
    /// Whether the verified phone number is to be forgotten. Only the user can prove one.
    let forgetsPhone: Bool
    let profile: [JSON.Member]
    /// The claims that null removes.
    let withoutClaims: Set<String>
    let attributes: AttributeChanges?

    /// The first member, if any, that only the user or the platform may set on an existing user.
    public var sensitiveMember: String? {
        if email != nil { return "email" }
        if emailVerified != nil { return "email_verified" }
        if forgetsPhone { return User.phoneVerified }
        if password != nil { return "password" }
        if attributes != nil { return "attributes" }
        return disabled == nil ? nil : "disabled"
    }
    /// Whether it disables the user, and sets nothing else.
    public var onlyDisables: Bool {
        disables && email == nil && emailVerified == nil && password == nil && !forgetsPhone && attributes == nil
            && profile.isEmpty && withoutClaims.isEmpty
    }
    public var verifiesEmail: Bool { emailVerified == true }
    public var disables: Bool { disabled == true }
    /// The member by which a new user is given a name, if one does.
    public var chosenMember: String? { id != nil ? "user_id" : subject != nil ? "sub" : nil }
    public var setsPassword: Bool { password != nil }
    public var setsAttributes: Bool { attributes != nil }
    /// The user's names, none of which may be the password.
    public var names: [String] {
        profile.filter { ["name", "nickname", "given_name", "family_name", "preferred_username"].contains($0.name) }
            .compactMap(\.value.string)
    }

    /// Refuses an address that no new user may have.
    static let unusualEmail = JSONFault(
        "email", "an e-mail address of ASCII letters, digits and signs, without quotes and without misplaced periods")

    public init(_ json: JSON) throws(JSONFault) {
        let members = try JSONMembers(json)
        id = try ImportedUser.id(members)
        subject = try ImportedUser.subject(members, of: id)
        if let text = try members.text("email", most: 300) {
            guard let address = EmailAddress(text) else { throw JSONFault("email", "an e-mail address") }
            email = address
        } else {
            email = nil
        }
        emailVerified = try members.flag("email_verified")
        if let value = members.any("password") {
            guard let text = value.string else { throw JSONFault("password", "8 to 128 characters") }
            password = try Password(text)
        } else {
            password = nil
        }
        disabled = try members.flag("disabled")
        let phoneVerified = try members.flag(User.phoneVerified)
        guard phoneVerified != true else {
            throw JSONFault(User.phoneVerified, "false, or left out: users verify their numbers themselves")
        }
        forgetsPhone = phoneVerified == false
        var profile: [JSON.Member] = []
        let claims = User.claims.flatMap(\.value)
        for claim in claims where claim != PostalAddress.claim {
            if let text = try members.text(claim, most: User.longestClaim) {
                guard User.mayHold(text, as: claim) else { throw JSONFault(claim, "an http or https URL") }
                profile.append(.init(claim, .string(text)))
            }
        }
        if let address = try PostalAddress.read(members) { profile.append(.init(PostalAddress.claim, address)) }
        self.profile = profile
        withoutClaims = Set(claims.filter { members.has($0) && members.any($0) == nil })
        attributes = try AttributeChanges(members)
    }
}
