import Directory
import JSON
import Values

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
