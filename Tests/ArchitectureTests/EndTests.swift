import Testing

/// One place decides what ends, and one whether something is live (docs/model.md).
@Suite("Ends and liveness are each decided in one place")
struct EndTests {
    @Test("Only SessionEnds.swift and Ending+causes.swift mark a session or a token family as ended")
    func ends() {
        // `ended_at = ended_at` holds a row, and ends nothing.
        let mark = /UPDATE (sessions|token_families) SET ended_at = (?!ended_at)/
        let marks = SourceTree.sources.filter { file in
            file.code(with: ["SET ended_at"]).contains { $0.line.contains(mark) }
        }.map(\.path)
        #expect(
            marks == ["Sources/Directory/Sessions/SessionEnds.swift", "Sources/OAuth/Endings/Ending+causes.swift"])
        let callers = SourceTree.sources.filter { !$0.code(with: ["Sessions.mark("]).isEmpty }.map(\.path)
        #expect(callers == ["Sources/OAuth/Endings/Ending+causes.swift"])
    }

    /// Files that may ask whether another table's row is disabled: lists, callbacks, and rows other than sessions and
    /// tokens.
    private static let exceptions = [
        "Sources/Administration/Finding/UserFinder.swift",
        "Sources/Administration/Finding/UserSearch.swift",
        "Sources/Authentication/Logins/ConnectedUsers.swift",
        "Sources/Directory/Clients/Clients.swift",
        "Sources/Directory/Clients/Addresses/KnownOrigins.swift",
        "Sources/Directory/Sessions/HostSessions.swift",
        "Sources/Federation/Issuers/IssuerSubjects.swift",
        "Sources/Federation/SignIn/SignInIssuers.swift",
        "Sources/OAuth/Callbacks/CallbackAnnouncement.swift",
        "Sources/OAuth/Registration/InitialAccessTokens.swift",
    ]

    @Test("Only Standing.swift and the files listed as exceptions read another table's disabled_at or gone_at")
    func liveness() {
        let column = /\b([a-z]|clients|merchants|users|issuers)\.(disabled_at|gone_at)\b/
        let asking = SourceTree.sources.filter { file in
            file.code(with: [".disabled_at", ".gone_at"]).contains { $0.line.contains(column) }
        }.map(\.path)
        #expect(asking == (Self.exceptions + ["Sources/Directory/Sessions/Standing.swift"]).sorted())
    }
}
