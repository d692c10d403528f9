import Synchronization
import Testing

@testable import StoragePostgreSQL

@Suite("Scans of PostgreSQL wait for each other")
struct ScanGateTests {
    private final class Counts: Sendable {
        let now = Atomic(0)
        let most = Atomic(0)
        let done = Atomic(0)
    }

    @Test("of a hundred at once two run, and all get their turn")
    func two() async {
        let gate = ScanGate(most: 2)
        let counts = Counts()
        await withTaskGroup(of: Void.self) { group in
            for _ in 1...100 {
                group.addTask {
                    await gate.enter()
                    counts.most.max(counts.now.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
                    await Task.yield()
                    counts.now.subtract(1, ordering: .relaxed)
                    counts.done.add(1, ordering: .relaxed)
                    gate.leave()
                }
            }
        }
        #expect(counts.most.load(ordering: .relaxed) <= 2)
        #expect(counts.done.load(ordering: .relaxed) == 100)
    }
}
