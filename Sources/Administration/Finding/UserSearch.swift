public import Directory
public import Federation
import Storage
public import Values

/// Which users an administrator looks for, and in which order. All conditions hold together.
public struct UserSearch: Sendable {
    /// What one user at most has.
    public enum Key: Sendable {
        case user(UserID)
        case email(EmailAddress)
        case phone(PhoneNumber)
        case identity(issuer: TrustedIssuer.ID, subject: String)
    }

    public enum Order: String, Sendable, CaseIterable {
        case id = "user_id"
        case creation = "created_at"
        /// Only users with an address.
        case email
        /// Only users with a name.
        case name
    }

    public var keys: [Key] = []
    public var client: Client.ID?
    /// In lower case.
    public var emailPrefix: String?
    public var namePrefix: SearchName?
    public var isDisabled: Bool?
    public var createdAfter: Timestamp?
    public var createdBefore: Timestamp?
    public var order = Order.id
    public var isDescending = false

    public init() {}

    /// The order that the conditions themselves have: an index serves both. Nil if any order will do.
    public var ownOrder: Order? {
        if emailPrefix != nil { return .email }
        return namePrefix != nil ? .name : nil
    }

    /// The place of `user` in the list, as a cursor holds it.
    public static func position(of user: User, in search: UserSearch) -> String {
        Place(user, in: search.order).text(in: search.order)
    }

    /// The place of a user in the list.
    public struct Place: Sendable {
        let text: String
        let moment: Int64
        let id: UserID

        init(text: String = "", moment: Int64 = 0, id: UserID) {
            self.text = text
            self.moment = moment
            self.id = id
        }
    }

    /// A search would have to read more users than a request may.
    public struct TooMany: Error, Sendable {}
}

extension UserSearch.Place {
    /// A place that a cursor names, which may hold any text before its last stop.
    public init?(_ text: String, in order: UserSearch.Order) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let last = parts.last, let id = UserID(last), parts.count == (order == .id ? 1 : 2) else { return nil }
        switch order {
        case .id: self.init(id: id)
        case .creation:
            guard let moment = Int64(parts[0]) else { return nil }
            self.init(moment: moment, id: id)
        case .email, .name:
            guard let key = PlaceText.read(parts[0]) else { return nil }
            self.init(text: key, id: id)
        }
    }

    /// The place of `user`.
    init(_ user: User, in order: UserSearch.Order) {
        switch order {
        case .id: self.init(id: user.id)
        case .creation: self.init(moment: user.createdAt.milliseconds, id: user.id)
        case .email: self.init(text: user.email ?? "", id: user.id)
        case .name: self.init(text: SearchName(of: user.profile).text, id: user.id)
        }
    }

    /// The place as a cursor holds it.
    func text(in order: UserSearch.Order) -> String {
        switch order {
        case .id: "\(id)"
        case .creation: "\(moment).\(id)"
        case .email, .name: "\(PlaceText.write(text)).\(id)"
        }
    }
}

// MARK: As SQL: `u` is the table of users

extension UserSearch {
    /// The columns of a place.
    static let placeColumns: SQL.Columns = "u.id, u.created_at, COALESCE(u.email, '') AS address, u.search_name"

    var orderBy: SQL {
        switch (order, isDescending) {
        case (.id, false): "u.id"
        case (.id, true): "u.id DESC"
        case (.creation, false): "u.created_at, u.id"
        case (.creation, true): "u.created_at DESC, u.id DESC"
        case (.email, false): "u.email"
        case (.email, true): "u.email DESC"
        case (.name, false): "u.search_name, u.id"
        case (.name, true): "u.search_name DESC, u.id DESC"
        }
    }

    func place(_ row: Row) throws -> Place {
        let id: UserID = try row.get("id")
        return switch order {
        case .id: Place(id: id)
        case .creation: Place(moment: try row.get("created_at"), id: id)
        case .email: Place(text: try row.get("address"), id: id)
        case .name: Place(text: try row.get("search_name"), id: id)
        }
    }

    /// Whether a user comes after `place`.
    func after(_ place: Place?) -> SQL { place.map { compared(isDescending ? "<" : ">", $0) } ?? .always }

    /// Whether a user is at `place`, or comes before it.
    func upTo(_ place: Place?) -> SQL {
        place.map { compared(isDescending ? ">=" : "<=", $0) } ?? .always
    }

    private func compared(_ operation: SQL, _ place: Place) -> SQL {
        switch order {
        case .id: "u.id \(operation) \(place.id)"
        case .creation: "(u.created_at, u.id) \(operation) (\(place.moment), \(place.id))"
        case .email: "u.email \(operation) \(place.text)"
        case .name: "(u.search_name, u.id) \(operation) (\(place.text), \(place.id))"
        }
    }

    /// Whether `one` comes before `other`, as the database says it.
    func precedes(_ one: Place, _ other: Place) -> Bool {
        let (first, second) = isDescending ? (other, one) : (one, other)
        if first.moment != second.moment { return first.moment < second.moment }
        // As UTF-8 the texts compare by bytes.
        if !first.text.utf8.elementsEqual(second.text.utf8) {
            return first.text.utf8.lexicographicallyPrecedes(second.text.utf8)
        }
        return first.id.number < second.id.number
    }

    func isAfter(_ one: Place, _ place: Place?) -> Bool { place.map { precedes($0, one) } ?? true }

    /// Whether it has conditions besides keys and client.
    var isFiltered: Bool { filter(besidesRange: false) != nil }

    /// The part of the index of the order that the search reads.
    var range: SQL {
        switch order {
        case .id: isDisabled == true ? "u.disabled_at IS NOT NULL" : .always
        case .creation: "u.created_at >= \(start) AND u.created_at < \(end)"
        case .email:
            emailPrefix.map { "u.email >= \($0) AND u.email < \(Self.end(of: $0))" } ?? "u.email IS NOT NULL"
        case .name:
            namePrefix.map {
                "u.search_name <> '' AND u.search_name >= \($0) AND u.search_name < \(Self.end(of: $0.text))"
            } ?? "u.search_name <> ''"
        }
    }

    /// The first text after all that begin with `prefix`, by bytes: no text holds the last scalar, a noncharacter.
    private static func end(of prefix: String) -> String { prefix + "\u{10FFFF}" }

    private var start: Timestamp { createdAfter ?? Timestamp(milliseconds: 0) }
    private var end: Timestamp { createdBefore ?? Timestamp(milliseconds: .max) }

    /// The conditions beyond `range`, or beyond none; nil if there is none. Written so that no index serves them: the
    /// range says where a search reads.
    func filter(besidesRange: Bool) -> SQL? {
        var all: [SQL] = []
        let ranged = besidesRange ? order : nil
        if let emailPrefix, ranged != .email {
            all.append("SUBSTR(COALESCE(u.email, ''), 1, \(emailPrefix.unicodeScalars.count)) = \(emailPrefix)")
        }
        if let namePrefix, ranged != .name {
            all.append("SUBSTR(u.search_name, 1, \(namePrefix.text.unicodeScalars.count)) = \(namePrefix)")
        }
        if let isDisabled, ranged != .id || !isDisabled {
            all.append(isDisabled ? "COALESCE(u.disabled_at, 0) > 0" : "COALESCE(u.disabled_at, 0) = 0")
        }
        if createdAfter != nil || createdBefore != nil, ranged != .creation {
            all.append("+u.created_at >= \(start) AND +u.created_at < \(end)")
        }
        if ranged == nil {
            if order == .email { all.append("COALESCE(u.email, '') <> ''") }
            if order == .name { all.append("COALESCE(u.search_name, '') <> ''") }
        }
        return all.isEmpty ? nil : all.dropFirst().reduce(all[0]) { "\($0) AND \($1)" }
    }

    /// The user that a key names.
    var isNamed: SQL {
        let all = keys.map { key -> SQL in
            switch key {
            case .user(let id): "u.id = \(id)"
            case .email(let email): "u.email = \(email)"
            case .phone(let phone): "u.verified_phone = \(phone)"
            case .identity(let issuer, let subject):
                """
                u.id = (SELECT s.user_id FROM issuer_subjects s
                    WHERE s.issuer_id = \(issuer) AND s.subject = \(subject))
                """
            }
        }
        return all.dropFirst().reduce(all.first ?? .always) { "\($0) AND \($1)" }
    }
}
