import TestSupport
import Testing
import Values

@testable import Federation

@Suite("Documents that others publish") struct PublishedDocumentsTests {
    private struct Place: PublishedSource {
        let share: String
    }

    @Test("more requests than 64 of one share wait for a server that does not answer", .timeLimit(.minutes(1)))
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
