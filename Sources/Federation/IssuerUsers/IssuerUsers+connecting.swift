import Authentication
import Directory
import Storage
import Values

extension IssuerUsers {
    /// Links `person` to `user`, who is signed in here and asked for it. False when either is already linked elsewhere:
    /// an issuer has only one subject for a user.
    func connect(
        _ person: IssuerUser, to user: UserID, at now: Timestamp, in db: any Transaction
    ) throws -> Bool {
        if let link = try IssuerSubjects.find(person.subject, of: person.issuer.id, in: db) {
            guard link.user == user else { return false }
            // The user knew a link to one merchant's applications. From now on it is good wherever the issuer's
            // sign-ins are.
            if try IssuerSubjects.release(person.subject, of: person.issuer.id, for: user, in: db) {
                try events.say(.linked(issuer: person.issuer.nameInWarnings), user, at: now, in: db)
            }
            return true
        }
        guard try !IssuerSubjects.has(user, linkedTo: person.issuer.id, in: db),
            let owner = try User.find(user, in: db), owner.disabledAt == nil, owner.deletionDueAt == nil
        else { return false }
        try IssuerSubjects.link(person.subject, of: person.issuer.id, to: user, at: now, in: db)
        try events.say(.linked(issuer: person.issuer.nameInWarnings), user, at: now, in: db)
        return true
    }
}
