import Synchronization
import TestSupport
import Testing
import Values

@testable import Federation

@Suite("Published documents of other servers") struct PublishedDocumentsTests {
    private struct Place: PublishedSource {
        let share: String
    }

    @Test("After the clock was set back documents are fetched again at once")
    func clockSetBack() async throws {
        let clock = ManualClock()
        let answers = Mutex<[Int]>([])
        let documents = PublishedDocuments<Place, Int>(clock: clock) { _ in
            answers.withLock { $0.isEmpty ? .unusable("away") : .document($0.removeFirst(), maxAge: .hours(1)) }
        }
        let place = Place(share: "one")
        clock.advance(by: .hours(2))
        await #expect(throws: DocumentUnavailable.self) { try await documents.document(at: place) }
        clock.advance(by: .hours(-2))
        answers.withLock { $0 = [1, 2, 3] }
        #expect(try await documents.document(at: place) == 1)
        clock.advance(by: .days(-1))
        #expect(try await documents.documentAnew(at: place) == 2)
        clock.advance(by: .hours(1))
        #expect(try await documents.document(at: place) == 3)
    }

    @Test("At most 64 requests of one share wait for a server that does not answer", .timeLimit(.minutes(1)))
    func crowd() async {
        let (gate, open) = AsyncStream<Never>.makeStream()
        let documents = PublishedDocuments<Place, Int>(clock: ManualClock()) { place in
            if place.share == "slow" { for await _ in gate {} }
            return .document(1, maxAge: nil)
        }
        let answers = await withTaskGroup(of: Int?.self) { group in
            for _ in 0...PublishedDocument.mostWaiting {
                group.addTask { try? await documents.document(at: Place(share: "slow")) }
            }
            let first = await group.next()
            #expect(first == .some(nil), "it is refused, and does not wait")
            #expect((try? await documents.document(at: Place(share: "quick"))) == 1)
            open.finish()
            return await group.reduce(into: 0) { count, answer in count += answer ?? 0 }
        }
        #expect(answers == PublishedDocument.mostWaiting)
        #expect((try? await documents.document(at: Place(share: "slow"))) == 1)
    }
}
