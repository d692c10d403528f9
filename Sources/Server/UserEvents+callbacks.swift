import Authentication
public import Directory
import HTTPSupport
public import OAuth
import SPiD
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
                        try announcement.signedOut(of: family, in: db)
                    case .browserEnded(let id):
                        try TokenFamilies.end(with: .one(id), of: user, telling: announcement, in: db)
                    case .everyBrowserEnded(let kept):
                        try TokenFamilies.end(
                            with: .all(except: kept), of: user, telling: announcement, in: db)
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
