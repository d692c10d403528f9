import CSQLite
import Synchronization
import Threads

/// How long a connection waits for the lock of another process. Unlike SQLite's own wait it can be shortened from
/// outside.
final class LockPatience: Sendable {
    private struct State {
        var since = ContinuousClock.now
        var longest: Duration
        var isShortened = false
    }

    private static let longestSleep: Duration = .milliseconds(100)

    private let state: Mutex<State>

    init(_ longest: Duration) { state = Mutex(State(longest: longest)) }

    /// Installs this object as the busy handler of `handle`, which it must outlive.
    func serve(_ handle: OpaquePointer) {
        unsafe sqlite3_busy_handler(
            handle,
            { context, count in
                guard let context = unsafe context else { return 0 }
                return unsafe Unmanaged<LockPatience>.fromOpaque(context).takeUnretainedValue().sleep(count) ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// From now on waits no longer than `longest`. Once that was too short, waits for nothing more: the next work would
    /// wait for the same lock.
    func shorten(to longest: Duration) {
        state.withLock { state in
            state.longest = min(state.longest, longest)
            state.isShortened = true
        }
    }

    /// Waits a moment, for the `count`th time. False when it has waited long enough.
    private func sleep(_ count: Int32) -> Bool {
        let goesOn = state.withLock { state in
            if count == 0 { state.since = .now }
            let goesOn = .now - state.since < state.longest
            if !goesOn, state.isShortened { state.longest = .zero }
            return goesOn
        }
        // Short at first: most locks are held for milliseconds.
        if goesOn { SystemThread.sleep(for: min(.milliseconds(2) * (Int(count) + 1), Self.longestSleep)) }
        return goesOn
    }
}
