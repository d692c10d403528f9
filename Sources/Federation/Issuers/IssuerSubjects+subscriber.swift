public import Directory
import Values

extension IssuerSubjects {
    /// Removes links that another user may have made.
    public static let subscriber = UserEvents.Subscriber(
        "IssuerSubjects",
        [
            .on(.takenOver, "removes the links to subjects of other issuers, and what is known of removed ones") {
                _, user, _, db in
                try unlink(user, in: db)
            },
            // Otherwise the merchant's backend, which may have its own account at the provider, could sign in as the
            // user again.
            .on(.disconnected, "removes the links that the merchant's clients made, with what they led to") {
                event, user, announcement, db in
                guard case .disconnected(let merchant) = event else { return }
                for issuer in try unlink(user, confinedTo: merchant, in: db) {
                    try announcement.say(.unlinked(issuer: issuer.text, keeping: nil, wasConfined: true), user, db)
                }
            },
        ])
}
