import CLinux

/// The descriptors that a loop watches, and the one that wakes it from another thread.
final class Poll: Sendable {
    let descriptor: Int32
    private let wakeUp: Int32
    static let wakeUpID = ConnectionID(slot: 0xFFFF_FFFF, generation: ConnectionID.reserved)

    init() throws(ServerError) {
        descriptor = linux_epoll_create()
        guard descriptor >= 0 else { throw .system("epoll_create1", code: -descriptor) }
        wakeUp = linux_eventfd()
        guard wakeUp >= 0 else {
            linux_close(descriptor)
            throw .system("eventfd", code: -wakeUp)
        }
        // Edge-triggered: each signal is one event, so the counter never has to be read back to zero.
        _ = linux_epoll_add(descriptor, wakeUp, linux_readable_edge, Self.wakeUpID.raw)
    }

    deinit {
        linux_close(wakeUp)
        linux_close(descriptor)
    }

    func signal() { linux_eventfd_signal(wakeUp) }

    /// Watches both directions, reporting each change once, for as long as the descriptor is open.
    func addEdges(_ watched: Int32, as id: ConnectionID) -> Bool {
        linux_epoll_add(descriptor, watched, linux_edges, id.raw) == 0
    }

    func addReadable(_ watched: Int32, as id: ConnectionID) -> Bool {
        linux_epoll_add(descriptor, watched, linux_readable, id.raw) == 0
    }

    func remove(_ watched: Int32) { _ = linux_epoll_remove(descriptor, watched) }

    /// Waits, and returns how many of `events` are filled. `milliseconds` -1 waits forever.
    func wait(_ events: inout [linux_event], milliseconds: Int32) -> Int {
        let capacity = Int32(events.count)
        return unsafe events.withUnsafeMutableBufferPointer { events in
            Int(max(0, unsafe linux_epoll_wait(descriptor, events.baseAddress, capacity, milliseconds)))
        }
    }
}

/// A time in milliseconds, of a monotonic clock.
typealias Milliseconds = Int64

extension Milliseconds {
    static var now: Milliseconds { linux_monotonic_milliseconds() }
    static let never = Milliseconds.max
}

extension Duration {
    /// In milliseconds, rounded up, and at least one.
    var milliseconds: Milliseconds {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflow, whole < .max / 4 else { return .max / 4 }
        return Swift.max(1, whole + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
