import JSON

/// What users may read and write at Ditto: a template, with placeholders for each user's subject and attributes.
struct DittoPermissions: Sendable {
    /// The limit of queries with an attribute: each may become as many queries as the attribute has texts.
    static let mostWithAttributes = 20

    private let read: DittoAccess
    private let write: DittoAccess
    private let remoteQuery: Bool?

    init(_ json: JSON) throws(JSONFault) {
        let member = "permissions"
        try json.permit(["read", "write", "remoteQuery"], at: member)
        read = try DittoAccess(json["read"], at: member + ".read")
        write = try DittoAccess(json["write"], at: member + ".write")
        remoteQuery = json["remoteQuery"]?.bool
        guard json["remoteQuery"] == nil || remoteQuery != nil else {
            throw JSONFault(member + ".remoteQuery", "true or false")
        }
        guard (read.queries + write.queries).count(where: { $0.attribute != nil }) <= Self.mostWithAttributes else {
            throw JSONFault(member, "a template in which at most \(Self.mostWithAttributes) queries name an attribute")
        }
    }

    /// Whether filling it needs the user's attributes.
    var namesAttributes: Bool { (read.queries + write.queries).contains { $0.attribute != nil } }

    /// The template as it was given.
    var json: JSON { json { [$0.text] } }

    /// How many bytes of queries an answer may have.
    private static let longestAnswer = 256 * 1024

    /// Whether the answer for `user` stays within its limit: queries, their placeholders and the texts of an
    /// attribute are each limited, but their product could be megabytes.
    func suits(_ user: DittoUser) -> Bool {
        (read.queries + write.queries).reduce(0) { $0 + $1.size(for: user) } <= Self.longestAnswer
    }

    func filled(for user: DittoUser) -> JSON { json { $0.filled(for: user) } }

    private func json(_ texts: (DittoQuery) -> [String]) -> JSON {
        .members([
            "read": read.json(texts), "write": write.json(texts), "remoteQuery": remoteQuery.map { .bool($0) },
        ])
    }
}

/// The read or write half: everything, or what the queries of each collection find.
struct DittoAccess: Sendable {
    private static let mostCollections = 100
    private static let mostQueries = 50

    private struct Collection: Sendable {
        let name: String
        let queries: [DittoQuery]
    }

    private let everything: Bool
    private let collections: [Collection]

    /// `place` is its position in the document, for error messages.
    init(_ json: JSON?, at place: String) throws(JSONFault) {
        guard let json else { throw JSONFault(place, "given") }
        try json.permit(["everything", "queriesByCollection"], at: place)
        guard let everything = json["everything"]?.bool else {
            throw JSONFault(place + ".everything", "true or false")
        }
        let member = place + ".queriesByCollection"
        guard let members = json["queriesByCollection"]?.members, members.count <= Self.mostCollections else {
            throw JSONFault(member, "an object of at most \(Self.mostCollections) collections")
        }
        self.everything = everything
        var collections: [Collection] = []
        for collection in members {
            guard (1...200).contains(collection.name.utf8.count), !collection.name.hasControlCharacters else {
                throw JSONFault(member, "named by collections, of 1 to 200 bytes without control characters")
            }
            guard let texts = collection.value.strings, texts.count <= Self.mostQueries else {
                throw JSONFault("\(member).\(collection.name)", "an array of at most \(Self.mostQueries) strings")
            }
            var queries: [DittoQuery] = []
            for text in texts { queries.append(try DittoQuery(text, at: "\(member).\(collection.name)")) }
            collections.append(Collection(name: collection.name, queries: queries))
        }
        self.collections = collections
    }

    var queries: [DittoQuery] { collections.flatMap(\.queries) }

    func json(_ texts: (DittoQuery) -> [String]) -> JSON {
        let queries = collections.map { collection in
            JSON.Member(collection.name, .array(collection.queries.flatMap(texts).map { .string($0) }))
        }
        return .members(["everything": .bool(everything), "queriesByCollection": .object(queries)])
    }
}

extension JSON {
    /// Refuses anything but an object, and members other than `names`, so that a misspelt permission is not taken for
    /// none.
    fileprivate func permit(_ names: Set<String>, at place: String) throws(JSONFault) {
        guard let members else { throw JSONFault(place, "an object") }
        guard let unknown = members.first(where: { !names.contains($0.name) }) else { return }
        throw JSONFault("\(place).\(unknown.name)", "absent: there are \(names.sorted().joined(separator: ", "))")
    }
}

extension String {
    /// Whether it contains line ends or invisible characters.
    var hasControlCharacters: Bool {
        unicodeScalars.contains { scalar in
            [.control, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
        }
    }
}
