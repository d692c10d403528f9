import Foundation
import Testing

/// One word for one thing (docs/decisions/vocabulary.md): a retired word names no type, file or table.
@Suite struct VocabularyTests {
    /// Words that no name may contain.
    static let gone: Set = [
        "Permission", "Upstream", "Visitor", "Asker", "Parcel", "Postman", "Postmark", "Bell", "Letter", "Farewell",
        "Voucher", "Circle", "Clearance", "Door", "House", "Departures", "Correspondence", "Onward",
    ]

    /// Retired names: as parts of other names these words mean something else.
    static let goneNames: Set = [
        "Account", "Accounts", "Person", "Claim", "NoClaim", "CodeClaim", "RefreshClaims", "AssertionClaim",
        "DirectAnswers", "MeantPerson", "PersonGate", "AccountGate", "Visit", "NearMiss", "LogoutWish", "Carrier",
        "Receivers", "PersonNews", "PersonChange", "PersonSnapshot", "HeldData", "KnownPlaces", "Arrival", "Arrivals",
        "OutboundQuestion", "OtherIssuers", "KeyKeeper", "SubjectNames",
    ]

    /// Words for users, and for those who are none, that no name in the program contains, not even a variable's.
    static let goneForUsers: Set = ["person", "people", "nobody", "somebody", "anybody", "stranger", "strangers"]

    /// Ditto's word for what its webhook answers.
    static let ofOthers: Set = ["DittoPermissions"]

    @Test("No type and no Swift file has a name that the vocabulary retired", arguments: SourceTree.swiftFiles)
    func types(_ file: SourceFile) {
        let declaration = /\b(?:struct|class|enum|protocol|actor|typealias)\s+([A-Z]\w*)/
        let part = /[A-Z][a-z]*/
        let declared = file.code(with: SourceFile.typeWords).flatMap { number, line in
            line.matches(of: declaration)
                .map { (place: "\(file.path):\(number)", name: String($0.output.1)) }
        }
        let base = file.path.split(separator: "/").last?.split(separator: ".").first?.split(separator: "+").first
        for (place, name) in declared + [(place: file.path, name: String(base ?? ""))]
        where !Self.ofOthers.contains(name) {
            let words = Set(name.matches(of: part).map { String($0.output) })
            #expect(words.isDisjoint(with: Self.gone), "\(place): \(name)")
            #expect(!Self.goneNames.contains(name), "\(place): \(name)")
        }
    }

    @Test("No name in the program calls a user a person, somebody or a stranger", arguments: SourceTree.sources)
    func users(_ file: SourceFile) {
        guard file.text.lowercased().mentions(anyOf: Array(Self.goneForUsers)) else { return }
        for (number, line) in file.code where line.lowercased().mentions(anyOf: Array(Self.goneForUsers)) {
            // What clients and browsers get stands in quotation marks.
            for name in line.replacing(/"[^"]*"/, with: "").matches(of: /\b(?:let|var|func|case) \w+|\w+(?=:)/) {
                let words = Set(name.output.matches(of: /[A-Z]?[a-z]+/).map { $0.output.lowercased() })
                #expect(words.isDisjoint(with: Self.goneForUsers), "\(file.path):\(number): \(name.output)")
            }
        }
    }

    @Test("No SQL statement outside the migrations names a table or column by a name the vocabulary retired")
    func tables() {
        let gone = [
            "accounts", "permissions", "sign_in_places", "upstream_requests", "account_id", "permission_id", "somebody",
        ]
        for (place, text) in StatementTests.statements.map({ ($0.place, $0.text) })
        where !place.hasPrefix("migrations/") {
            for name in gone { #expect(!text.mentions(name), "\(place): \(name)") }
        }
    }
}
