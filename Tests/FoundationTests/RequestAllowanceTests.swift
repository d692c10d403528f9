import Directory
import SPiD
import TestSupport
import Testing
import Values

@Suite("Calls of SPiD's API in an hour")
struct RequestAllowanceTests {
    @Test("the share of a user who goes on and on is not forgotten for all the others")
    func share() {
        let (allowance, now) = (RequestAllowance(limit: 100_000, mostUsers: 10), ManualClock().now)
        let client: Client.ID = "loom"
        var taken = 0
        for number in 0..<30_000 {
            if !allowance.take(client, UserID(1), at: now).isRefused { taken += 1 }
            _ = allowance.take(client, UserID(Int64(number + 2)), at: now)
        }
        #expect(taken == 10_000)
    }
}
