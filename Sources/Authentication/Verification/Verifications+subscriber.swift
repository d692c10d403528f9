public import Directory

extension Verifications {
    /// Ends mailed codes and links that were asked for earlier.
    public static let subscriber = UserEvents.Subscriber(
        "Verifications",
        [
            .on(.accessRevoked, "ends the mail codes and links that are still open") { _, user, announcement, db in
                try endAll(of: user, at: announcement.now, in: db)
            },
            // A sign-up or a code may wait at the address and name no user.
            .on(.deleted, "deletes the codes and sign-ups that wait at the user's address and phone number") {
                _, user, _, db in
                let gone = try User.find(user, in: db)
                if let email = gone?.email { try forget(email: email, in: db) }
                if let phone = gone?.verifiedPhone { try forget(phone: phone, in: db) }
            },
        ])
}
