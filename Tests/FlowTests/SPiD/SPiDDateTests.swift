import JSON
import TestSupport
import Testing
import Values

@testable import SPiD

@Suite("Dates of SPiD's API: extreme ones, and those relative to now, as PHP's strtotime reads the common ones")
struct SPiDDateTests {
    // MARK: Extreme dates

    /// Refused, and the process lives on.
    static let refused = [
        "292278995-1-1 1:1:1", "2147483647-1-1 1:1:1", "2147485547-1-1 1:1", "-1-1-1", "-1-1-1 1:1:1",
        "1-2147483648-1 1:1", "2147483648-1-1 1:1:1", "0000-00-00", "0000-00-00 00:00:00", "10000-01-01 0:00:0",
        "253402300800", "-1", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1e309",
        "2031-01-01 23:59:60", "2023-02-29", "2031-01-01 00:00:0\u{E9}",
        "\u{0662}\u{0660}\u{0663}\u{0661}-\u{0660}\u{0661}-\u{0660}\u{0661}",
    ]
    /// Accepted, since the calendar has them.
    static let taken = ["0000-01-01 00:00:00", "9999-12-31 23:59:59", "0", "99999999999", "253402300799"]

    @Test(
        "SPiD's lists of users and logins accept a since or until from year 0 to 9999, and refuse any other",
        arguments: Backend.available)
    func lists(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            _ = try await world.signIn(with: loom)
            let token = try await world.clientToken(loom)
            for path in ["users", "logins", "user/\(world.user)/logins"] {
                for name in ["since", "until"] {
                    func answer(_ date: String) async throws -> Answer {
                        try await world.api("\(path)?\(name)=\(TestServer.encode(date))", token)
                    }
                    for date in Self.refused {
                        #expect(try await answer(date).status == 400, "\(path) \(name) \(date)")
                    }
                    for date in Self.taken {
                        #expect(try await answer(date).status == 200, "\(path) \(name) \(date)")
                    }
                }
                // The whole calendar.
                let all = try await world.api("\(path)?since=0000-01-01+00:00:00&until=9999-12-31+23:59:59", token)
                #expect(all.data.array?.count == 1, "\(path): \(all)")
            }
        }
    }

    @Test("A user's request for logins since the year 292278995 is refused", arguments: Backend.available)
    func ownLogins(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn(with: try await world.spidBackend()).require("access_token")
            let path = "user/\(world.user)/logins"
            #expect(try await world.api("\(path)?since=292278995-1-1+1:1:1", token).status == 400)
            #expect(try await world.api(path, token).status == 200)
        }
    }

    @Test(
        "SPiD's API refuses a sign-up whose birthday is before the year 1, after 9999 or no date",
        arguments: Backend.available)
    func birthday(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.clientToken(try await world.spidBackend())
            for date in Self.refused + ["0000-01-01 00:00:00", "0"] {
                let made = try await world.api("signup", token, ["email": "grace@example.com", "birthday": date])
                #expect(made.status == 400, "\(date): \(made)")
            }
            let made = try await world.api("signup", token, ["email": "grace@example.com", "birthday": "0001-01-01"])
            #expect(made.status == 201, "\(made)")
        }
    }

    // MARK: Relative dates

    /// A Friday.
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)

    /// Phrases and what PHP makes of them at 2027-01-15 08:00:00.
    private static let phrases: KeyValuePairs<String, String> = [
        "now": "2027-01-15 08:00:00", "today": "2027-01-15 00:00:00", "midnight": "2027-01-15 00:00:00",
        "noon": "2027-01-15 12:00:00", "yesterday": "2027-01-14 00:00:00", "Tomorrow": "2027-01-16 00:00:00",
        "yesterday noon": "2027-01-14 12:00:00", "last year": "2026-01-15 08:00:00", "LAST YEAR": "2026-01-15 08:00:00",
        "last month": "2026-12-15 08:00:00", "next week": "2027-01-22 08:00:00", "this day": "2027-01-15 08:00:00",
        "last fortnight": "2027-01-01 08:00:00", "-7 days": "2027-01-08 08:00:00", "-7days": "2027-01-08 08:00:00",
        "- 7 days": "2027-01-08 08:00:00", "+1 week": "2027-01-22 08:00:00", " 1 week": "2027-01-22 08:00:00",
        "1 week ago": "2027-01-08 08:00:00", "1 day 2 hours ago": "2027-01-14 06:00:00",
        "-1 day -2 hours": "2027-01-14 06:00:00", "-1 month": "2026-12-15 08:00:00", "-90 min": "2027-01-15 06:30:00",
        "-30 seconds": "2027-01-15 07:59:30", "today -1 year": "2026-01-15 00:00:00",
        "-2 years 3 months": "2025-04-15 08:00:00", "0 days": "2027-01-15 08:00:00",
        "last year ": "2026-01-15 08:00:00",
        "2026-12-31": "2026-12-31 00:00:00", "1800000001": "2027-01-15 08:00:01",
    ]

    @Test("SPiD's API takes a relative date for the same moment as PHP does")
    func phrases() {
        for (phrase, moment) in Self.phrases {
            #expect(Timestamp(spid: phrase, at: Self.now)?.spidText == moment, "\(phrase)")
        }
    }

    @Test("One month before 31 March 2027 is 3 March, and one year before the leap day of 2028 is 1 March 2027")
    func calendar() throws {
        let cases = [
            ("2027-03-31 10:00:00", "-1 month", "2027-03-03 10:00:00"),
            ("2028-02-29 10:00:00", "last year", "2027-03-01 10:00:00"),
            ("2027-01-31 10:00:00", "next month", "2027-03-03 10:00:00"),
            ("2027-12-31 23:59:59", "tomorrow", "2028-01-01 00:00:00"),
        ]
        for (now, phrase, moment) in cases {
            let now = try #require(Timestamp(spid: now))
            #expect(Timestamp(spid: phrase, at: now)?.spidText == moment, "\(phrase)")
        }
    }

    static let unread = [
        "someday", "last", "last last year", "-7", "days", "7 parsecs", "last monday", "--7 days", "7 days!",
        "yesterday; DROP TABLE users", "+", "-", "1.5 days", "٧ days", "\u{130}", "9999999999999 years",
        "9999999999999 weeks 9999999999999 weeks", "99999999999999 days", "-120001 months", "120000 months 1 month",
        "-9999 years", "last year last", "1 week before", "-100 years", "\u{0}now", "now\u{0}",
        String(repeating: "1 day ", count: 17) + "1 day",
    ]

    @Test(
        "An unknown phrase is no date in SPiD's API, nor is one that leads before 1970 or past the calendar",
        arguments: unread)
    func meansNothing(_ phrase: String) { #expect(Timestamp(spid: phrase, at: Self.now) == nil) }

    @Test(
        "SPiD's lists of users and logins accept relative dates in since and until, and refuse other phrases",
        arguments: Backend.available)
    func relativeLists(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            _ = try await world.signIn(with: loom)
            world.server.clock.advance(by: .days(2))
            let token = try await world.clientToken(loom)
            let made = try await world.api(
                "signup", token, ["email": "grace@example.com", "password": World.password])
            try #require(made.status == 201)
            _ = try await world.signIn(with: loom, as: "grace@example.com")
            func count(_ query: String) async throws -> Int? {
                try await world.api(query, token).data.array?.count
            }
            for list in ["users", "logins"] {
                #expect(try await count("\(list)?since=last%20year") == 2)
                #expect(try await count("\(list)?since=yesterday") == 1)
                #expect(try await count("\(list)?since=-7+days&until=yesterday") == 1)
                #expect(try await count("\(list)?since=tomorrow") == 0)
                #expect(try await count("\(list)?until=now") == 2)
                for phrase in ["someday", "last", "7 parsecs", "9999999999999 years"] {
                    let refused = try await world.api("\(list)?since=\(TestServer.encode(phrase))", token)
                    #expect(refused.status == 400 && refused.json["error"]?["type"] == "ApiException", "\(phrase)")
                }
            }
        }
    }
}
