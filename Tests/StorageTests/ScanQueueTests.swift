import Synchronization
import Testing

@testable import StorageSQLite

@Suite struct ScanQueueTests {
    private final class Counts: Sendable {
        private let running = Mutex(0)
        private let mostAtOnce = Mutex(0)

        var most: Int { mostAtOnce.withLock { $0 } }

        func begin() {
            let count = running.withLock { count in
                count += 1
                return count
            }
            mostAtOnce.withLock { $0 = max($0, count) }
        }

        func end() { running.withLock { $0 -= 1 } }
    }

    @Test("every scan runs, and never more at once than there are threads")
    func scans() async {
        let queue = ScanQueue(threads: 2)
        let counts = Counts()
        await withTaskGroup { group in
            for _ in 0..<100 {
                group.addTask {
                    await withCheckedContinuation { caller in
                        queue.add {
                            counts.begin()
                            counts.end()
                            caller.resume()
                        }
                    }
                }
            }
        }
        #expect((1...2).contains(counts.most))
    }
}
