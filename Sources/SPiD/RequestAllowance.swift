package import Directory
package import JSON
import OAuth
import Synchronization
package import Values

/// How often a client may call SPiD's API in an hour. One user's token gets at most a tenth of that, and less as other
/// users make more calls. Users together leave a tenth to the client's own tokens. Every copy of an app contains its
/// secret, so an app's own tokens are limited like users', by the calling address.
///
/// Each node counts for itself: the limit stops a runaway client and does not meter calls.
public final class RequestAllowance: Sendable {
    /// What is left for a caller: of the client's allowance, or of the user's share if that is less.
    public struct State: Sendable {
        package let reset: Duration
        package let limit: Int
        package let remaining: Int
        /// Whether this call was one too many.
        package var isRefused = false

        fileprivate init(_ window: Window, limit: Int, at now: Timestamp) {
            reset = window.start + RequestAllowance.length - now
            self.limit = limit
            remaining = max(0, limit - window.used)
        }

        /// For a user, when `left` calls are left to all users.
        fileprivate init(_ window: Window, share: Int, left: Int, at now: Timestamp) {
            reset = window.start + RequestAllowance.length - now
            limit = share
            // A user may have an eighth of what the others leave: ten users calling without pause leave half.
            let rest = max(0, (left - 8 * window.used) / 9)
            // Even if the client has few calls left, a user gets one.
            remaining = window.used == 0 ? min(left, max(1, rest)) : rest
        }

        package func requireRemaining() throws(SPiDRefusal) {
            guard isRefused else { return }
            throw SPiDRefusal(
                .allowanceUsedUp, "Request limit exceeded: at most \(limit) an hour. See request.reset.",
                reason: "allowance_used_up")
        }

        package var json: JSON {
            .members([
                "reset": .integer(reset.seconds), "limit": .integer(Int64(limit)),
                "remaining": .integer(Int64(remaining)),
            ])
        }
    }

    fileprivate struct Window {
        let start: Timestamp
        var used = 0
    }

    private struct Holder: Hashable {
        let client: Client.ID
        /// Nil for all calls of the client.
        var sharer: Sharer?
    }

    /// What shares the allowance of a client with others.
    package enum Sharer: Hashable, Sendable {
        case user(UserID)
        case address(String)
    }

    /// Windows of clients, or of their users. Two halves share the limit `most`; when the newer one is full, the older
    /// one is dropped, because searching for old windows at each call would cost more.
    private struct Windows {
        let most: Int
        private var recent: [Holder: Window] = [:]
        private var earlier: [Holder: Window] = [:]

        init(most: Int) { self.most = most }

        func window(of holder: Holder, at now: Timestamp) -> Window {
            // A window that starts in the future was stored before the clock was set back.
            guard let window = recent[holder] ?? earlier[holder],
                (window.start..<window.start + RequestAllowance.length).contains(now)
            else { return Window(start: now) }
            return window
        }

        /// Counts a call, or with 0 only keeps the window among the newer ones.
        mutating func count(_ holder: Holder, at now: Timestamp, _ calls: Int = 1) {
            var window = window(of: holder, at: now)
            window.used += calls
            if recent.count >= most / 2, recent[holder] == nil {
                earlier = recent
                recent = [:]
            }
            recent[holder] = window
        }
    }

    /// Kept apart, so that many users do not push out their clients' windows.
    private struct Counts {
        var clients = Windows(most: 10_000)
        var users = Windows(most: 100_000)
    }

    private static let length: Duration = .hours(1)
    private let limit: Int
    private let share: Int
    private let state = Mutex(Counts())

    /// `limit` is the calls of one client in an hour: the setting `api_limit` (`SpindleConfiguration`).
    public init(limit: Int) {
        self.limit = limit
        share = max(1, limit / 10)
    }

    /// Remembers fewer users, for tests.
    package init(limit: Int, mostUsers: Int) {
        self.limit = limit
        share = max(1, limit / 10)
        state.withLock { $0.users = Windows(most: mostUsers) }
    }

    /// What is left for `client` with a token that `sharer` has, or with its own.
    package func left(_ client: Client.ID, _ sharer: Sharer?, at now: Timestamp) -> State {
        state.withLock { left(in: $0, client, sharer, at: now) }
    }

    private func left(in counts: Counts, _ client: Client.ID, _ sharer: Sharer?, at now: Timestamp) -> State {
        let whole = State(counts.clients.window(of: Holder(client: client), at: now), limit: limit, at: now)
        guard let sharer else { return whole }
        let own = State(
            counts.users.window(of: Holder(client: client, sharer: sharer), at: now), share: share,
            left: max(0, whole.remaining - limit / 10), at: now)
        return own.remaining <= whole.remaining ? own : whole
    }

    /// Counts one call, unless nothing is left: a refused call takes nothing from other users.
    package func take(_ client: Client.ID, _ sharer: Sharer?, at now: Timestamp) -> State {
        // In one step: simultaneous calls must not all take the last one that is left.
        state.withLock { counts in
            var left = left(in: counts, client, sharer, at: now)
            guard left.remaining > 0 else {
                // Otherwise the window of a client that keeps calling would be dropped, and start anew.
                counts.clients.count(Holder(client: client), at: now, 0)
                if let sharer { counts.users.count(Holder(client: client, sharer: sharer), at: now, 0) }
                left.isRefused = true
                return left
            }
            counts.clients.count(Holder(client: client), at: now)
            if let sharer { counts.users.count(Holder(client: client, sharer: sharer), at: now) }
            return self.left(in: counts, client, sharer, at: now)
        }
    }
}
