import Authentication
import Directory

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
