import JSON
import TestSupport
import Testing

@Suite("Dates of SPiD's API: extreme ones, and those relative to now, as PHP's strtotime reads the common ones")
struct ExtremeDateTests {
    /// Refused, and the server is there for the next request.
    static let refused = [
        "292278995-1-1 1:1:1", "2147483647-1-1 1:1:1", "2147485547-1-1 1:1", "-1-1-1", "-1-1-1 1:1:1",
        "1-2147483648-1 1:1", "2147483648-1-1 1:1:1", "0000-00-00", "0000-00-00 00:00:00", "10000-01-01 0:00:0",
        "253402300800", "-1", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1e309",
        "2031-01-01 23:59:60", "2023-02-29", "2031-01-01 00:00:0\u{E9}",
        "\u{0662}\u{0660}\u{0663}\u{0661}-\u{0660}\u{0661}-\u{0660}\u{0661}",
    ]
    /// Taken: as far away as they are, they are in the calendar.
    static let taken = ["0000-01-01 00:00:00", "9999-12-31 23:59:59", "0", "99999999999", "253402300799"]

    @Test(
        "An extreme since or until, for users and logins, is refused unless the calendar has it",
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
                // All of time, from end to end.
                let all = try await world.api("\(path)?since=0000-01-01+00:00:00&until=9999-12-31+23:59:59", token)
                #expect(all.data.array?.count == 1, "\(path): \(all)")
            }
        }
    }

    @Test("A user's request for logins since the year 292278995 is refused", arguments: Backend.available)
    func person(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn(with: try await world.spidBackend()).require("access_token")
            let path = "user/\(world.user)/logins"
            #expect(try await world.api("\(path)?since=292278995-1-1+1:1:1", token).status == 400)
            #expect(try await world.api(path, token).status == 200)
        }
    }

    @Test("An extreme birthday is refused", arguments: Backend.available)
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
}
