public import Directory

extension IssuerSubjects {
    /// Removes links that somebody else may have made.
    public static let subscriber = UserEvents.Subscriber(
        "IssuerSubjects",
        [
            .on(.takenOver, "removes the links to subjects of other issuers") { _, user, _, db in
                try unlink(user, in: db)
            }
        ])
}
