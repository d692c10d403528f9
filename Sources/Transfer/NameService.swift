import Dispatch
import Glibc
import Synchronization
public import Values

/// Asks the machine's resolver on separate threads: it blocks, and a question cannot be stopped.
public final class NameService: Sendable {
    /// How many questions are open.
    private struct Load {
        /// How many callers wait, for each purpose.
        var waiting: [String: Int] = [:]
        /// How many threads run, including those that no caller waits for any more.
        var running = 0
        var allWaiting: Int { waiting.values.reduce(0, +) }
    }

    private let queue: DispatchQueue
    private let mostAtOnce: Int
    private let lookUp: @Sendable (String) -> [IPAddress]
    private let load = Mutex(Load())

    public convenience init(mostAtOnce: Int = 16) { self.init(mostAtOnce: mostAtOnce, lookUp: Self.addresses) }

    init(mostAtOnce: Int, lookUp: @escaping @Sendable (String) -> [IPAddress]) {
        self.mostAtOnce = mostAtOnce
        self.lookUp = lookUp
        queue = DispatchQueue(label: "spindle.names", attributes: .concurrent)
    }

    /// One purpose may use at most half of the room, so names that hang for it leave the other half to the others.
    private var mostForOne: Int { max(1, mostAtOnce / 2) }
    /// Limits the threads that hang in a dead name service.
    private var mostRunning: Int { mostAtOnce * 4 }

    /// Returns every address of `host`, in the order to try them; none for an unknown host. Each `purpose` has its
    /// share.
    ///
    /// Throws `NameServiceError`, or `CancellationError` as soon as the task is cancelled. A caller that stops waiting
    /// frees its slot, though the resolver may still be at work.
    public func addresses(
        of host: String, within limit: Duration, for purpose: String = ""
    ) async throws -> [IPAddress] {
        let mayAsk = load.withLock { load in
            guard load.allWaiting < mostAtOnce, load.waiting[purpose, default: 0] < mostForOne,
                load.running < mostRunning
            else { return false }
            load.waiting[purpose, default: 0] += 1
            load.running += 1
            return true
        }
        guard mayAsk else { throw NameServiceError.busy }
        defer {
            load.withLock { load in
                let count = load.waiting[purpose, default: 1] - 1
                load.waiting[purpose] = count > 0 ? count : nil
            }
        }
        let answer = PendingAddresses()
        queue.async {
            let addresses = self.lookUp(host)
            self.load.withLock { $0.running -= 1 }
            answer.resume(with: .success(addresses))
        }
        queue.asyncAfter(deadline: .now() + .milliseconds(limit.milliseconds)) {
            answer.resume(with: .failure(NameServiceError.timedOut))
        }
        return try await withTaskCancellationHandler {
            try await answer.value
        } onCancel: {
            answer.resume(with: .failure(CancellationError()))
        }
    }

    @Sendable private static func addresses(of host: String) -> [IPAddress] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_flags = AI_ADDRCONFIG
        unsafe hints.ai_family = AF_UNSPEC
        // One entry per address, not one for each kind of socket.
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { unsafe freeaddrinfo(list) }
        var addresses: [IPAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            if let address = unsafe entry.pointee.ai_addr.flatMap({ unsafe IPAddress(socketAddress: $0) }) {
                addresses.append(address)
            }
            unsafe next = entry.pointee.ai_next
        }
        return addresses
    }
}
