public import Directory

extension Agreements {
    /// Stores what a new user accepted.
    public static let subscriber = UserEvents.Subscriber(
        "Agreements",
        [
            .on(.signedUp, "stores the terms that were accepted") { event, user, announcement, db in
                guard case .signedUp(let agreed) = event else { return }
                try accept(noted: agreed, by: user, at: announcement.now, in: db)
            }
        ])
}
