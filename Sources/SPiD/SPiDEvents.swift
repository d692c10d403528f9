import Authentication
public import Directory
public import OAuth

extension UserEvent.Field {
    /// The members of SPiD's user object that contain the field.
    package var spidNames: [String] {
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
        "phone_number": ["phoneNumber"], "phone_number_verified": ["phoneNumberVerified"],
    ]
}

extension UserEvent.Standing {
    /// SPiD's name of the status.
    package var spidName: String {
        switch self {
        case .unverified: "unverified"
        case .verified: "verified"
        case .leaving: "inactive"
        case .disabled: "blocked"
        }
    }
}

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
