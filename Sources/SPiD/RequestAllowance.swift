package import Directory
package import JSON
import OAuth
import Synchronization
package import Values

/// How often a client may call SPiD's API in an hour.
///
/// Each node counts for itself: the limit stops a client that runs wild; it does not meter calls.
public final class RequestAllowance: Sendable {
    /// What is left of a client's allowance.
    public struct State: Sendable {
        package let reset: Duration
        package let limit: Int
        package let used: Int

        /// Refuses the call that is one too many.
        package func requireRemaining() throws(SPiDRefusal) {
            guard used > limit else { return }
            throw SPiDRefusal(
                .allowanceUsedUp, "Request limit exceeded: \(limit) an hour. See request.reset.",
                reason: "allowance_used_up")
        }

        package var json: JSON {
            .members([
                "reset": .integer(reset.seconds), "limit": .integer(Int64(limit)),
                "remaining": .integer(Int64(max(0, limit - used))),
            ])
        }
    }

    private struct Window {
        let start: Timestamp
        var used: Int
    }

    private static let length: Duration = .hours(1)
    private static let most = 10_000
    private let limit: Int
    private let windows = Mutex<[Client.ID: Window]>([:])

    /// `limit` is the calls of one client in an hour.
    public init(limit: Int) { self.limit = limit }

    /// Counts one call.
    package func take(_ client: Client.ID, at now: Timestamp) -> State {
        windows.withLock { windows in
            var window = windows[client] ?? Window(start: now, used: 0)
            // A window that starts in the future is from before the clock was set back.
            if !(window.start..<window.start + Self.length).contains(now) { window = Window(start: now, used: 0) }
            window.used += 1
            // When it is full, all clients start anew: to search it for old windows at each call would cost more.
            if windows.count >= Self.most, windows[client] == nil { windows.removeAll(keepingCapacity: true) }
            windows[client] = window
            return State(reset: window.start + Self.length - now, limit: limit, used: window.used)
        }
    }
}
