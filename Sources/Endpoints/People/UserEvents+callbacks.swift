public import Authentication
public import OAuth
import Values

extension UserEvents {
    /// News that goes to the clients that know the person: in SPiD's words, and of the end of a browser session in
    /// OpenID's.
    public init(_ callbacks: Callbacks) {
        self.init { now in
            let announcement = callbacks.announcement(at: now)
            return Announcement(
                say: { change, user, db in
                    switch change {
                    case .changed(let fields, let standing):
                        let names = Set(fields.flatMap(\.spidNames)).sorted() + (standing == nil ? [] : ["status"])
                        try announcement.changed(user, fields: names, status: standing?.spidName, in: db)
                    case .signedOut(family: nil): try announcement.signedOut(user, in: db)
                    case .signedOut(let family?):
                        try announcement.signedOut(of: TokenFamily.ID(family), in: db)
                    case .browserEnded(let id):
                        try TokenFamilies.end(with: .one(id.text), of: user, telling: announcement, in: db)
                    case .everyBrowserEnded(let kept):
                        try TokenFamilies.end(
                            with: .all(except: kept?.text), of: user, telling: announcement, in: db)
                    case .takenOver(let signUp):
                        try TokenFamilies.forget(
                            user, except: signUp.flatMap { AppReturn.Address($0)?.client }, telling: announcement,
                            in: db)
                    case .deleted: try announcement.deleted(user, in: db)
                    }
                }, send: announcement.send)
        }
    }
}

extension UserEvent.Field {
    /// What SPiD's user object calls it.
    fileprivate var spidNames: [String] {
        switch self {
        case .email: ["email"]
        case .password: ["password"]
        case .claim(let name): Self.spidNames[name] ?? [name]
        }
    }

    private static let spidNames: [String: [String]] = [
        "name": ["displayName", "name"], "given_name": ["name"], "family_name": ["name"], "middle_name": ["name"],
        "nickname": ["displayName"], "preferred_username": ["preferredUsername"], "profile": ["url"],
        "website": ["url"], "picture": ["photo"], "birthdate": ["birthday"], "zoneinfo": ["utcOffset"],
        "phone_number": ["phoneNumber"],
    ]
}

extension UserEvent.Standing {
    /// SPiD's name of the status.
    fileprivate var spidName: String {
        switch self {
        case .unverified: "unverified"
        case .verified: "verified"
        case .leaving: "inactive"
        case .disabled: "blocked"
        }
    }
}
