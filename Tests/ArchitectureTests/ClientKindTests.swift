import Testing

/// Who may what stands in one table: `ClientRights.swift`, explained in docs/model.md.
@Suite("Only the table of rights asks what kind a client is")
struct ClientKindTests {
    /// What reads and writes a client's document or its row, beside the kind itself.
    private static let documents = [
        "Sources/Directory/Clients/ClientDocument.swift",
        "Sources/Directory/Clients/ClientMetadata.swift",
        "Sources/Directory/Clients/ClientRow.swift",
        "Sources/Directory/Clients/ClientKind.swift",
        "Sources/Directory/Clients/Clients.swift",
        "Sources/Server/Commands/ClientMembers.swift",
    ]

    // `wordBoundaryKind`: by Unicode's rules no word ends at the point of `client.firstParty`.
    @Test("Only the table of client rights and a client's document and row read the parts of a client's kind")
    func swift() {
        let words = [
            "irstParty", "pidCompatible", "PiDCompatible", "registeredItself", "isThirdParty", "ind.",
            "authentication ",
        ]
        let kind = /\b(firstParty|spidCompatible|isFirstParty|isSPiDCompatible|registeredItself|isThirdParty)\b/
            .wordBoundaryKind(.simple)
        let parts = /\b(kind|Kind)\.(owner|custody|dialect)\b|\bauthentication [!=]= \.none\b/
            .wordBoundaryKind(.simple)
        let reading = SourceTree.sources.filter { file in
            file.code(with: words).contains { code in
                // The name of a case, with its merchant, is no question.
                let line = code.line.replacing(/\.registeredItself\(at:/, with: "")
                return line.contains(kind) || line.contains(parts)
            }
        }.map(\.path)
        #expect(Set(reading) == Set(Self.documents + ["Sources/Directory/Clients/ClientRights.swift"]))
    }

    /// What names a member of the document in a text for its developer or administrator, or writes one.
    private static let naming = [
        "Sources/Directory/Clients/ClientSetting.swift",
        "Sources/Administration/Administrator+clients.swift",
        "Sources/BrowserPages/Scripts/AjaxEndpoint.swift",
        "Sources/Directory/Clients/ClientMetadata.swift",
        "Sources/OAuth/Registration/ClientRegistration.swift",
    ]

    @Test("No SQL statement reads a client's kind except by the conditions in the table of client rights")
    func statements() {
        let columns = /\b(first_party|spid_compatible|custody|registered_itself)\b|registration_token IS/
            .wordBoundaryKind(.simple)
        let reading = SourceTree.sources.filter { file in
            file.code(with: ["first_party", "spid_compatible", "custody", "registered_itself", "registration_token"])
                .contains { $0.line.contains(columns) }
        }.map(\.path)
        let allowed = Self.documents + Self.naming + ["Sources/Directory/Clients/ClientRights.swift"]
        #expect(Set(reading).isSubset(of: allowed), "\(Set(reading).subtracting(allowed).sorted())")
        for path in Self.naming {
            let qualified = SourceTree.sources.filter { $0.path == path }.flatMap(\.code).filter {
                $0.line.contains(/(\w\.|SELECT .*|WHERE .*|AND )(first_party|spid_compatible|custody)/)
            }
            #expect(qualified.isEmpty, "\(path) asks in a statement")
        }
    }
}
