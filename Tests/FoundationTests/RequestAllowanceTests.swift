import Directory
import SPiD
import TestSupport
import Testing
import Values

@Suite("The hourly allowance of calls to SPiD's API")
struct RequestAllowanceTests {
    @Test("A busy user gets at most a tenth of a client's calls to SPiD's API, even among thousands of users")
    func share() {
        let (allowance, now) = (RequestAllowance(limit: 100_000, mostUsers: 10), ManualClock().now)
        let client: Client.ID = "loom"
        var taken = 0
        for number in 0..<30_000 {
            if !allowance.take(client, .user(UserID(1)), at: now).isRefused { taken += 1 }
            _ = allowance.take(client, .user(UserID(Int64(number + 2))), at: now)
        }
        // The others took as many.
        #expect((8000...10_000).contains(taken))
    }

    @Test("Ten busy users leave calls to SPiD's API for other users and for the client's own token")
    func together() {
        for limit in [100, 360_000] {
            let (allowance, now) = (RequestAllowance(limit: limit), ManualClock().now)
            let client: Client.ID = "loom"
            for user in 1...10 {
                while !allowance.take(client, .user(UserID(Int64(user))), at: now).isRefused {}
            }
            let ada = allowance.left(client, .user(UserID(11)), at: now)
            #expect(ada.remaining >= limit / 40)
            #expect(!allowance.take(client, .user(UserID(11)), at: now).isRefused)
            #expect(!allowance.take(client, nil, at: now).isRefused)
        }
    }

    @Test("Nine busy addresses with an app's own token leave calls to SPiD's API for the app's users")
    func addresses() {
        for limit in [100, 360_000] {
            let (allowance, now) = (RequestAllowance(limit: limit), ManualClock().now)
            let client: Client.ID = "loom"
            for number in 1...9 {
                var taken = 0
                while !allowance.take(client, .address("203.0.113.\(number)"), at: now).isRefused { taken += 1 }
                #expect((1...limit / 10).contains(taken), "\(number)")
            }
            #expect(allowance.left(client, .user(UserID(1)), at: now).remaining >= limit / 40)
            #expect(!allowance.take(client, .user(UserID(1)), at: now).isRefused)
            #expect(!allowance.take(client, .address("203.0.113.10"), at: now).isRefused)
        }
    }

    @Test(
        "One user may take a tenth of a client's hourly calls to SPiD's API, and at least one",
        arguments: [(1, 1), (5, 1), (10, 1), (100, 10)])
    func alone(limit: Int, most: Int) {
        let (allowance, now) = (RequestAllowance(limit: limit), ManualClock().now)
        var taken = 0
        while !allowance.take("loom", .user(UserID(1)), at: now).isRefused { taken += 1 }
        #expect(taken == most)
    }
}
