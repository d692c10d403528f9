package import Directory
import JSON

/// One of SPiD's searches by a profile member: the whole text, without regard to case.
package struct ProfileTerm: Sendable {
    private typealias Shown = @Sendable (User) -> String

    private let shown: Shown
    private let wanted: String

    /// Nil for another name.
    package init?(_ name: String, _ text: String) {
        guard let shown = Self.names.first(where: { $0.key == name })?.value else { return nil }
        self.shown = shown
        wanted = Self.plain(text)
    }

    package func holds(_ user: User) -> Bool { Self.plain(shown(user)) == wanted }

    package static var all: [String] { names.map(\.key) }

    private static let names: KeyValuePairs<String, Shown> = [
        "displayName": { $0.displayedName }, "fullName": { $0.formattedName },
        "givenName": { $0.claim("given_name") }, "familyName": { $0.claim("family_name") },
        "preferredUsername": { $0.claim("preferred_username") }, "gender": { $0.gender },
        "birthday": { $0.claim("birthdate") }, "birthyear": { String($0.claim("birthdate").prefix(4)) },
        "phoneNumber": { $0.claim("phone_number") }, "phoneNumbers": { $0.claim("phone_number") },
        "address_formatted": { $0.part("formatted") }, "address_streetAddress": { $0.part("street_address") },
        "address_postalCode": { $0.part("postal_code") }, "address_locality": { $0.part("locality") },
        "address_region": { $0.part("region") }, "address_country": { $0.part("country") },
    ]

    private static func plain(_ text: String) -> String { text.filter { !$0.isWhitespace }.lowercased() }
}

extension User {
    /// A part of the claim `address`.
    fileprivate func part(_ name: String) -> String { profile[PostalAddress.claim]?[name]?.string ?? "" }
}
