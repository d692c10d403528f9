import Testing

@testable import Delivery

@Suite("Mails to domains that take them at once are not kept waiting by others")
struct RecipientDomainTests {
    @Test(
        "a stranger's mails, to domains that let the mail server wait, take all places of a share",
        .timeLimit(.minutes(1)))
    func stalled() async throws {
        let domains = RecipientDomains()
        let share = Delivery.Share("loom")
        for _ in 1...DeliveryLimits.quickInARow { try await domains.send(to: "example.com", of: share) {} }
        // One quick mail does not make it a quick domain.
        try await domains.send(to: "0.slow.example", of: share) {}
        let (begun, beginning) = AsyncStream.makeStream(of: Int.self)
        let (refused, refusing) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<DeliveryLimits.mostForOneShare(.mail) {
                group.addTask {
                    do {
                        try await domains.send(to: "\(number).slow.example", of: share) {
                            beginning.yield(number)
                            try await Task.sleep(for: .seconds(3600))
                        }
                    } catch Undeliverable.busy {
                        refusing.yield(number)
                    }
                }
            }
            var places = begun.makeAsyncIterator()
            for _ in 0..<DeliveryLimits.mostToUnknownDomains { _ = await places.next() }
            var others = refused.makeAsyncIterator()
            for _ in DeliveryLimits.mostToUnknownDomains..<DeliveryLimits.mostForOneShare(.mail) {
                _ = await others.next()
            }
            var taken = 0
            try await domains.send(to: "Example.com", of: share) { taken += 1 }
            try await domains.send(to: "unknown.example", of: .init("another")) { taken += 1 }
            #expect(taken == 2)
            await #expect(throws: Undeliverable.busy) {
                try await domains.send(to: "third.example", of: share) { Issue.record("it took a place") }
            }
            group.cancelAll()
            while let result = await group.nextResult() { if case .success = result { continue } }
        }
        try await domains.send(to: "third.example", of: share) {}
    }
}
