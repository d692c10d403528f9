import Testing

@testable import Delivery

@Suite("Mails to slow recipient domains")
struct RecipientDomainTests {
    @Test(
        "One share's mails to slow unknown domains leave places for domains that are known to be quick",
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
                    } catch is Undeliverable {
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
            // A pile of them is taken out and put back ever more seldom.
            var counts: [Int] = []
            for _ in 1...40 {
                do {
                    try await domains.send(to: "third.example", of: share) { Issue.record("it took a place") }
                } catch Undeliverable.crowded(let failing) {
                    counts.append(failing)
                }
            }
            #expect(counts == Array((counts.first ?? 0)..<(counts.first ?? 0) + 40))
            group.cancelAll()
            while let result = await group.nextResult() { if case .success = result { continue } }
        }
        try await domains.send(to: "third.example", of: share) {}
    }

    @Test(
        "Two shares' mails to slow unknown domains leave places for domains that are known to be quick",
        .timeLimit(.minutes(1)))
    func stalledByTwo() async throws {
        let domains = RecipientDomains()
        let shares = ["loom", "rival"].map { Delivery.Share($0) }
        for _ in 1...DeliveryLimits.quickInARow { try await domains.send(to: "example.com", of: shares[0]) {} }
        let (begun, beginning) = AsyncStream.makeStream(of: Int.self)
        let (refused, refusing) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<DeliveryLimits.mostAtOnce(.mail) {
                group.addTask {
                    do {
                        try await domains.send(to: "\(number).slow.example", of: shares[number % 2]) {
                            beginning.yield(number)
                            try await Task.sleep(for: .seconds(3600))
                        }
                    } catch is Undeliverable {
                        refusing.yield(number)
                    }
                }
            }
            var places = begun.makeAsyncIterator()
            for _ in 0..<DeliveryLimits.mostToUnknownDomainsInAll { _ = await places.next() }
            var others = refused.makeAsyncIterator()
            for _ in DeliveryLimits.mostToUnknownDomainsInAll..<DeliveryLimits.mostAtOnce(.mail) {
                _ = await others.next()
            }
            var taken = 0
            try await domains.send(to: "example.com", of: .init("third")) { taken += 1 }
            // A merchant that has none on the way has a place for a domain that nobody knows, too.
            try await domains.send(to: "fresh.example", of: .init("third")) { taken += 1 }
            #expect(taken == 2)
            group.cancelAll()
            while let result = await group.nextResult() { if case .success = result { continue } }
        }
    }

    @Test(
        "Mails that wait for a slow domain leave the share a place",
        .timeLimit(.minutes(1)), arguments: zip([5, 6], [1, 100]))
    func pile(places: Int, refusals: Int) async throws {
        let domains = RecipientDomains()
        let share = Delivery.Share("loom")
        for _ in 1...DeliveryLimits.quickInARow { try await domains.send(to: "example.com", of: share) {} }
        let (refused, refusing) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<places {
                group.addTask {
                    while !Task.isCancelled {
                        do {
                            try await domains.send(to: "slow.example", of: share) {
                                try await Task.sleep(for: .seconds(1))
                            }
                        } catch is Undeliverable {
                            refusing.yield(number)
                            try await Task.sleep(for: .milliseconds(1))
                        }
                    }
                }
            }
            // The fifth waits for a while; the sixth does not.
            var others = refused.makeAsyncIterator()
            for _ in 0..<refusals {
                let other = await others.next()
                try #require(other != nil)
            }
            var taken = 0
            try await domains.send(to: "example.com", of: share) { taken += 1 }
            #expect(taken == 1)
            group.cancelAll()
            while let result = await group.nextResult() { if case .success = result { continue } }
        }
    }
}
