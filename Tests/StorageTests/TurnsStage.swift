import Storage
import Synchronization
import Testing

/// Scans or changes that have begun, each of which continues when it is told to.
final class TurnsStage: Sendable {
    private struct State {
        var begun: [String] = []
        var running: [String: CheckedContinuation<Void, Never>] = [:]
        var refused = 0
    }
    private let state = Mutex(State())

    var begun: [String] { state.withLock { $0.begun } }
    var running: Int { state.withLock { $0.running.count } }

    var refused: Int { state.withLock { $0.refused } }

    func refuse() { state.withLock { $0.refused += 1 } }

    func play(_ name: String) async {
        await withCheckedContinuation { scan in
            state.withLock { state in
                state.begun.append(name)
                state.running[name] = scan
            }
        }
    }

    /// Ends the scan that began first of those that run.
    func endOne() -> Bool {
        let scan = state.withLock { state in
            state.begun.first { state.running[$0] != nil }.flatMap { state.running.removeValue(forKey: $0) }
        }
        scan?.resume()
        return scan != nil
    }

    static func wait(until holds: () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while !holds(), ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(1)) }
        #expect(holds())
    }

    /// Asks for a place for `name`, and counts it if it is refused.
    func ask(_ turns: RequesterTurns, for requester: Requester, _ name: String) async {
        do { try await turns.run(for: requester) { await play(name) } } catch { refuse() }
    }

    /// Ends running scans until `count` have begun and all have ended.
    func endAll(_ count: Int) async {
        while begun.count < count || running > 0 {
            _ = endOne()
            await Task.yield()
        }
    }
}
