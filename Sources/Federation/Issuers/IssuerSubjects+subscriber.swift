public import Directory

extension IssuerSubjects {
    /// Removes links that somebody else may have made.
    public static let subscriber = UserEvents.Subscriber(
        "IssuerSubjects",
        [
            .on(.takenOver, "removes the links to subjects of other issuers") { _, user, _, db in
                try unlink(user, in: db)
            },
            // Otherwise the merchant's backend, with an account of its own at the provider, signs in as the user again.
            .on(.disconnected, "removes the links that the merchant's clients made") { event, user, _, db in
                guard case .disconnected(let merchant) = event else { return }
                try unlink(user, confinedTo: merchant, in: db)
            },
        ])
}
