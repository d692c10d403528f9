import CCurl
import Glibc
import Synchronization
import Threads
public import Values

/// Looks up names with the system's resolver, which blocks: each look-up has a thread, and the number that may hang is
/// limited.
///
/// A look-up keeps its place until the resolver ends it, perhaps long after its caller has gone: a name whose servers
/// do not answer costs a thread for half a minute. So each requester has a share, and further requests for a name that
/// is being looked up wait for the same answer.
public final class NameService: Sendable {
    /// The purpose and the requester of a look-up.
    private struct Requester: Hashable {
        let purpose: String
        /// Nil for the whole purpose.
        let name: String?
    }

    private struct State {
        /// The callers that wait, for each name that is being looked up.
        var waiting: [String: [PendingAddresses]] = [:]
        /// How many look-ups run, in all and by purpose and requester.
        var running: [Requester: Int] = [:]
        var all = 0
    }

    private let mostAtOnce: Int
    private let lookUp: @Sendable (String) -> [IPAddress]
    private let state = Mutex(State())

    public convenience init(mostAtOnce: Int = 256) { self.init(mostAtOnce: mostAtOnce, lookUp: Self.addresses) }

    init(mostAtOnce: Int, lookUp: @escaping @Sendable (String) -> [IPAddress]) {
        self.mostAtOnce = mostAtOnce
        self.lookUp = lookUp
    }

    /// One purpose may use at most half of the room, so that names that hang for it leave the other half to others.
    private var mostForPurpose: Int { max(1, mostAtOnce / 2) }
    /// One requester may use a sixteenth of that.
    private var mostForRequester: Int { max(1, mostForPurpose / 16) }

    /// Returns every address of `host`, in the order to try them; none for an unknown host. Each `purpose` has its
    /// share, and within it each `requester`.
    ///
    /// Throws `NameServiceError`, or `CancellationError` as soon as the task is cancelled.
    public func addresses(
        of host: String, within limit: Duration, for purpose: String = "", by requester: String = ""
    ) async throws -> [IPAddress] {
        let answer = PendingAddresses()
        try join(host, answer, [Requester(purpose: purpose, name: nil), Requester(purpose: purpose, name: requester)])
        let deadline = Task {
            try await Task.sleep(for: limit)
            answer.resume(with: .failure(NameServiceError.timedOut))
        }
        defer { deadline.cancel() }
        return try await withTaskCancellationHandler {
            try await answer.value
        } onCancel: {
            answer.resume(with: .failure(CancellationError()))
        }
    }

    /// Lets `answer` wait for the look-up of `host`, which is begun unless it runs already.
    private func join(_ host: String, _ answer: PendingAddresses, _ requesters: [Requester]) throws {
        let begins = try state.withLock { state throws(NameServiceError) in
            if let others = state.waiting[host] {
                // Callers that timed out are not kept for as long as the resolver takes.
                state.waiting[host] = others.filter { !$0.isGiven } + [answer]
                return false
            }
            guard state.all < mostAtOnce,
                requesters.allSatisfy({
                    state.running[$0, default: 0] < ($0.name == nil ? mostForPurpose : mostForRequester)
                })
            else { throw .busy }
            state.waiting[host] = [answer]
            state.all += 1
            for requester in requesters { state.running[requester, default: 0] += 1 }
            return true
        }
        guard begins else { return }
        do {
            try SystemThread.start(named: "spindle-names") { [self] in end(host, requesters, with: lookUp(host)) }
        } catch {
            // The process may be unable to start more threads.
            for caller in ended(host, requesters) { caller.resume(with: .failure(NameServiceError.busy)) }
        }
    }

    private func end(_ host: String, _ requesters: [Requester], with addresses: [IPAddress]) {
        for caller in ended(host, requesters) { caller.resume(with: .success(addresses)) }
    }

    /// Frees the place of the look-up of `host`, and returns its waiting callers.
    private func ended(_ host: String, _ requesters: [Requester]) -> [PendingAddresses] {
        state.withLock { state in
            state.all -= 1
            for requester in requesters {
                let count = state.running[requester, default: 1] - 1
                state.running[requester] = count > 0 ? count : nil
            }
            return state.waiting.removeValue(forKey: host) ?? []
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

/// Why a host's addresses are not known.
public enum NameServiceError: Error, Sendable, Equatable {
    /// Too many look-ups are running.
    case busy
    case timedOut
}

/// A result that comes once: from the resolver, the clock or cancellation, whichever is first.
final class PendingAddresses: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<[IPAddress], any Error>)
        case given(Result<[IPAddress], any Error>)
        case taken
    }
    private let state = Mutex(State.open)

    /// Whether its result is set, so that a later one changes nothing.
    var isGiven: Bool {
        state.withLock { state in
            switch state {
            case .open, .awaited: false
            case .given, .taken: true
            }
        }
    }

    var value: [IPAddress] {
        get async throws {
            try await withCheckedThrowingContinuation { continuation in
                let given: Result<[IPAddress], any Error>? = state.withLock { state in
                    guard case .given(let result) = state else {
                        state = .awaited(continuation)
                        return nil
                    }
                    state = .taken
                    return result
                }
                if let given { continuation.resume(with: given) }
            }
        }
    }

    func resume(with result: Result<[IPAddress], any Error>) {
        let continuation: CheckedContinuation<[IPAddress], any Error>? = state.withLock { state in
            switch state {
            case .open:
                state = .given(result)
                return nil
            case .awaited(let continuation):
                state = .taken
                return continuation
            case .given, .taken:
                return nil
            }
        }
        continuation?.resume(with: result)
    }
}

extension IPAddress {
    /// Reads an address of either family in place: an IPv6 address is longer than a `sockaddr`.
    @unsafe init?(socketAddress: UnsafePointer<sockaddr>) {
        let raw = unsafe UnsafeRawPointer(socketAddress)
        switch unsafe Int32(socketAddress.pointee.sa_family) {
        case AF_INET:
            let address = unsafe raw.loadUnaligned(as: sockaddr_in.self).sin_addr
            self.init(bytes: unsafe withUnsafeBytes(of: address) { unsafe Array($0) })
        case AF_INET6:
            let address = unsafe raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            self.init(bytes: unsafe withUnsafeBytes(of: address) { unsafe Array($0) })
        default: return nil
        }
    }
}
