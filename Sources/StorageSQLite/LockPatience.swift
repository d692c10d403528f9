import CSQLite
import Foundation
import Synchronization

/// How long a connection waits for the lock of another process. Unlike SQLite's own wait it can be ended from outside.
final class LockPatience: Sendable {
    private struct State {
        var since = ContinuousClock.now
        var isOver = false
    }

    private static let longestSleep = 0.1

    private let longest: Duration
    private let state = Mutex(State())

    init(_ longest: Duration) { self.longest = longest }

    /// SQLite asks this object from now on, which must outlive `handle`.
    func serve(_ handle: OpaquePointer) {
        unsafe sqlite3_busy_handler(
            handle,
            { context, count in
                guard let context = unsafe context else { return 0 }
                return unsafe Unmanaged<LockPatience>.fromOpaque(context).takeUnretainedValue().sleep(count) ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Waits for no lock any more.
    func end() { state.withLock { $0.isOver = true } }

    /// Waits a moment, for the `count`th time. False when that was long enough.
    private func sleep(_ count: Int32) -> Bool {
        let goesOn = state.withLock { state in
            if count == 0 { state.since = .now }
            return !state.isOver && .now - state.since < longest
        }
        // Short at first: most locks are held for milliseconds.
        if goesOn { Thread.sleep(forTimeInterval: min(Double(count + 1) / 500, Self.longestSleep)) }
        return goesOn
    }
}
