import Administration
import Directory
import HTTPSupport
import JSON
import Values

extension UserSearch {
    /// What the query of a list of users can say.
    static let parameters: [Operation.Parameter] = [
        .init("email", .text, "the user with this address, in any letter case"),
        .init("user_id", .text, "the user with this number"),
        .init("sub", .text, "the user that a client knows by this `sub`, public or pairwise"),
        .init("phone_number", .text, "the user who proved to read text messages there"),
        .init("identity", .text(like: "^[^:]+:.+$"), "the user of a subject of an issuer: `ISSUER_ID:SUBJECT`"),
        .init("client_id", .text, "users of this client"),
        .init("name_prefix", .text, "users whose name begins so, in any letter case"),
        .init("email_prefix", .text, "users whose address begins so, in any letter case"),
        .init("disabled", .flag, "users who are disabled, or who are not"),
        .init("created_after", .time, "users made later"), .init("created_before", .time, "users made earlier"),
    ]

    init(_ query: Form) throws {
        self.init()
        if let text = query["email"] {
            guard let email = EmailAddress(text) else {
                throw Problem(parameter: "email", "must be an e-mail address, whose + is %2B in a URL")
            }
            keys.append(.email(email))
        }
        if let text = query["user_id"] {
            guard let id = UserID(text) else { throw Problem(parameter: "user_id", "must be a user's number") }
            keys.append(.user(id))
        }
        if let text = query["phone_number"] {
            guard let phone = PhoneNumber(text) else {
                throw Problem(
                    parameter: "phone_number", "must be a number with its country code, whose + is %2B in a URL")
            }
            keys.append(.phone(phone))
        }
        if let text = query["identity"] {
            let parts = text.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { throw Problem(parameter: "identity", "must be ISSUER_ID:SUBJECT") }
            keys.append(.identity(issuer: .init(String(parts[0])), subject: String(parts[1])))
        }
        client = query["client_id"].map { Client.ID($0) }
        emailPrefix = query["email_prefix"]?.lowercased()
        namePrefix = query["name_prefix"].map { SearchName($0) }
        if let namePrefix, namePrefix.text.isEmpty { throw Problem(parameter: "name_prefix", "must not be blank") }
        isDisabled = try query.flag("disabled")
        createdAfter = try query.seconds("created_after").map { $0 + .seconds(1) }
        createdBefore = try query.seconds("created_before")
        let chosen = try ListOrder<Order>(query)
        isDescending = chosen?.isDescending ?? false
        order = ownOrder ?? chosen?.order ?? (createdAfter != nil || createdBefore != nil ? .creation : .id)
        if let chosen, let ownOrder, chosen.order != ownOrder {
            throw Problem(
                parameter: "sort", "must be \(ownOrder.rawValue) or -\(ownOrder.rawValue) with this prefix")
        }
    }
}

extension Form {
    /// The parameter `name`, a time in seconds since 1970, as `created_at` shows it.
    fileprivate func seconds(_ name: String) throws -> Timestamp? {
        guard let text = self[name] else { return nil }
        guard let seconds = Int64(text), (0...99_999_999_999).contains(seconds) else {
            throw Problem(parameter: name, "must be a time in seconds since 1970")
        }
        return Timestamp(milliseconds: seconds * 1000)
    }
}
