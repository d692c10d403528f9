public import Directory
public import OAuth

extension Callbacks {
    /// Tells the clients that know a user what happened, with SPiD's names.
    public var subscriber: UserEvents.Subscriber {
        UserEvents.Subscriber(
            "Callbacks",
            [
                .on(.changed, "tells the clients that know the user which fields changed") {
                    event, user, announcement, db in
                    guard case .changed(let fields, let standing) = event else { return }
                    let names = Set(fields.flatMap(\.spidNames)).sorted() + (standing == nil ? [] : ["status"])
                    try self.announcement(for: announcement)
                        .changed(user, fields: names, status: standing?.spidName, in: db)
                },
                .on(.signedOut, "tells the clients that were signed in") { event, user, announcement, db in
                    guard case .signedOut(let session) = event else { return }
                    let callbacks = self.announcement(for: announcement)
                    switch session {
                    case .bought(let family): try callbacks.signedOut(of: family, in: db)
                    case .confined(let merchant): try callbacks.signedOut(user, from: merchant, in: db)
                    case .signIn: try callbacks.signedOut(user, in: db)
                    }
                },
                .on(.deleted, "tells the clients that know the user") { _, user, announcement, db in
                    try self.announcement(for: announcement).deleted(user, in: db)
                },
            ], afterCommit: deliver)
    }
}
