@testable import Delivery
import Storage
import TestSupport
import Testing
import Values

/// A route sends what comes, as it comes.
@Suite struct DeliveryRouteTests {
    @Test(
        "A mail is sent as soon as it is stored, and a delivery that hangs delays no other",
        arguments: Backend.available)
    func apart(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        let (newSessions, newSession) = AsyncStream<Int>.makeStream()
        let (ends, end) = AsyncStream<Void>.makeStream()
        let number = Counter()
        let carrier = TransportDouble {
            let mine = number.next()
            newSession.yield(mine)
            // The first mail hangs until the test is done with the others.
            if mine == 1 { for await _ in ends { break } }
        }
        let route = DeliveryWorker(house.outbox, by: carrier)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await route.run() }
            var iterator = newSessions.makeAsyncIterator()
            for expected in 1...12 {
                try await house.outbox.post(DeliveryFixture.letter)
                #expect(await iterator.next() == expected)
            }
            // Closed, it finishes what is on its way, and takes nothing more.
            house.outbox.close()
            end.yield()
            try await group.waitForAll()
        }
        #expect(try await house.waiting().isEmpty)
        await house.database.close()
    }

    @Test("Deliveries stored before a restart are sent at the start", arguments: Backend.available)
    func backlog(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        for _ in 0..<20 { try await house.node().post(DeliveryFixture.letter) }
        let (newSessions, newSession) = AsyncStream<Void>.makeStream()
        let route = DeliveryWorker(house.outbox, by: TransportDouble { newSession.yield() })
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await route.run() }
            var iterator = newSessions.makeAsyncIterator()
            for _ in 0..<20 { await iterator.next() }
            house.outbox.close()
            await group.waitForAll()
        }
        #expect(try await house.waiting().isEmpty)
        await house.database.close()
    }

    @Test("Closing the outbox ends every transport, even before it has begun", arguments: Backend.available)
    func closed(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        house.outbox.close()
        await DeliveryWorker(house.outbox, by: TransportDouble()).run()
        await house.database.close()
    }
}
