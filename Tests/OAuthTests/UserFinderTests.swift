import Directory
import Storage
import TestSupport
import Testing
import Values

@testable import Administration

@Suite("Searches of users read a part of an index") struct UserFinderTests {
    /// Two merchants with a client each, and users of the first merchant's, every third one of the second's too.
    private func filled(_ backend: Backend, users count: Int) async throws -> any Database {
        let database = try await backend.open()
        try await database.write { db in
            for merchant in ["m", "n"] {
                try db.execute(
                    """
                    INSERT INTO merchants (id, number, name, logout_reaches_backends, created_at, updated_at)
                    VALUES (\(merchant), \(merchant == "m" ? 1 : 2), \(merchant), 0, 0, 0)
                    """)
                try db.execute(
                    """
                    INSERT INTO clients (id, merchant_id, name, redirect_uris, grant_types, scope,
                        authentication_method, custody, first_party, spid_compatible, requires_pkce,
                        rotates_refresh_tokens, refresh_repeat_window, access_token_lifetime, refresh_token_lifetime,
                        sealed_sign_secret, created_at, updated_at)
                    VALUES (\("client of \(merchant)"), \(merchant), 'C', '', '', '', 'none', 'none', 1, 0, 1, 0, 0, 1,
                        1, '', 0, 0)
                    """)
            }
            for number in 1...count {
                let disabledAt: Int64? = number % 5 == 0 ? 1 : nil
                try db.execute(
                    """
                    INSERT INTO users (id, email, email_verified, profile, search_name, created_at, updated_at,
                        disabled_at)
                    VALUES (\(number), \("a\(100 - number)@example.com"), 1, \("{\"name\":\"B\(number % 7)\"}"),
                        \("b\(number % 7)"), \(1000 * (number / 2)), 0, \(disabledAt))
                    """)
                for merchant in number % 3 == 0 ? ["m", "n"] : ["m"] {
                    try db.execute(
                        """
                        INSERT INTO connections (user_id, client_id, created_at)
                        VALUES (\(number), \("client of \(merchant)"), 0)
                        """)
                }
            }
        }
        return database
    }

    private static func search(_ change: (inout UserSearch) -> Void) -> UserSearch {
        var search = UserSearch()
        change(&search)
        return search
    }

    private static let searches: [UserSearch] =
        UserSearch.Order.allCases.flatMap { order in
            [true, false].flatMap { isDescending -> [UserSearch] in
                let plain = search { ($0.order, $0.isDescending) = (order, isDescending) }
                var disabled = plain
                disabled.isDisabled = true
                var enabled = plain
                enabled.isDisabled = false
                var dated = plain
                dated.createdAfter = Timestamp(milliseconds: 6000)
                return [plain, disabled, enabled, dated]
            }
        } + [
            search { ($0.order, $0.emailPrefix) = (.email, "a9") },
            search { ($0.order, $0.namePrefix) = (.name, SearchName("B3")) },
        ]

    /// All that `search` finds, page by page.
    private func all(
        _ search: UserSearch, _ finder: UserFinder, of merchant: Merchant.ID?, by count: Int
    ) async throws -> [Int64] {
        var (found, place): ([Int64], UserSearch.Place?) = ([], nil)
        while true {
            let page = try await finder.users(search, of: merchant, after: place, count: count)
            found += page.map(\.id.number)
            guard let last = page.last, page.count == count else { return found }
            place = UserSearch.Place(last, in: search.order)
        }
    }

    @Test(
        "A search finds the same users in the same order, page by page, whichever index it begins in",
        arguments: Backend.available)
    func same(_ backend: Backend) async throws {
        let database = try await filled(backend, users: 40)
        for search in Self.searches {
            for merchant in [nil, Merchant.ID("m"), Merchant.ID("n")] {
                let wide = UserFinder(database: database)
                let narrow = UserFinder(database: database, few: 3, mostRead: 1000)
                let expected = try await wide.users(search, of: merchant, after: nil, count: 100).map(\.id.number)
                #expect(try await all(search, wide, of: merchant, by: 4) == expected, "\(search)")
                #expect(try await all(search, narrow, of: merchant, by: 4) == expected, "\(search)")
                #expect(try await wide.count(search, of: merchant) == expected.count, "\(search)")
                if merchant == Merchant.ID("n") { #expect(expected.allSatisfy { $0 % 3 == 0 }, "\(search)") }
            }
        }
        await database.close()
    }

    @Test("A search that would read too many other users is refused", arguments: Backend.available)
    func tooMany(_ backend: Backend) async throws {
        let database = try await filled(backend, users: 40)
        let finder = UserFinder(database: database, few: 3, mostRead: 12)
        let search = Self.search { ($0.order, $0.isDisabled) = (.email, true) }
        await #expect(throws: UserSearch.TooMany.self) {
            try await finder.users(search, of: nil, after: nil, count: 9)
        }
        await database.close()
    }

    @Test("Each search of users begins in its own index")
    func indexes() async throws {
        let database = Explained(base: try await filled(.sqlite, users: 40))
        let finder = UserFinder(database: database, few: 3, mostRead: 1000)
        for search in Self.searches {
            for merchant in [nil, Merchant.ID("n")] {
                _ = try await finder.users(search, of: merchant, after: nil, count: 4)
            }
        }
        for key in [
            UserSearch.Key.user(UserID(7)), .phone(try #require(PhoneNumber("+4790000000"))),
            .identity(issuer: .init("i"), subject: "s"),
        ] {
            _ = try await finder.users(Self.search { $0.keys = [key] }, of: nil, after: nil, count: 4)
        }
        database.expect("u.email >= $1 AND u.email < $2", uses: "(email>? AND email<?)")
        database.expect("u.search_name >= ", uses: "users_by_name")
        database.expect(" u.created_at >= ", uses: "users_by_creation")
        database.expect("u.disabled_at IS NOT NULL", uses: "users_disabled")
        database.expect("u.verified_phone = ", uses: "users_by_verified_phone")
        database.expect("FROM issuer_subjects s", uses: "sqlite_autoindex_issuer_subjects_1")
        database.expect("WHERE n.client_id = ", uses: "connections_by_client")
        database.expect("WHERE n.user_id IN", uses: "user_id=?")
        await database.close()
    }
}
