import Dispatch
import Foundation
import Synchronization
import Values

/// The machine's own resolver, asked on threads of its own: it blocks, and nothing stops it once it was asked.
enum NameService {
    private static let queue = DispatchQueue(label: "spindle.outbound.names", attributes: .concurrent)
    private static let mostAtOnce = 8
    private static let asking = Mutex(0)

    /// Every address of `host`, in the order in which they should be tried. Returns early when the task is cancelled.
    static func addresses(of host: String) async throws -> [IPAddress] {
        // The threads that hang in a dead name service must not become many.
        let mayAsk = asking.withLock { count in
            guard count < mostAtOnce else { return false }
            count += 1
            return true
        }
        guard mayAsk else { throw OutboundError.busy }
        let answer = Answer()
        queue.async {
            let addresses = lookUp(host)
            asking.withLock { $0 -= 1 }
            answer.resume(with: .success(addresses))
        }
        return try await withTaskCancellationHandler {
            try await answer.value
        } onCancel: {
            answer.resume(with: .failure(CancellationError()))
        }
    }

    private static func lookUp(_ host: String) -> [IPAddress] {
        var hints = addrinfo()
        hints.ai_flags = AI_ADDRCONFIG
        hints.ai_family = AF_UNSPEC
        // One entry an address, rather than one for each kind of socket.
        #if canImport(Darwin)
            hints.ai_socktype = SOCK_STREAM
        #else
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        return sequence(first: list) { $0?.pointee.ai_next }.prefix { $0 != nil }
            .compactMap { $0?.pointee.ai_addr }.compactMap(IPAddress.init(socketAddress:))
    }
}

extension IPAddress {
    fileprivate init?(socketAddress: UnsafeMutablePointer<sockaddr>) {
        switch Int32(socketAddress.pointee.sa_family) {
        case AF_INET:
            let address = UnsafeRawPointer(socketAddress).loadUnaligned(as: sockaddr_in.self)
            self.init(bytes: withUnsafeBytes(of: address.sin_addr) { Array($0) })
        case AF_INET6:
            let address = UnsafeRawPointer(socketAddress).loadUnaligned(as: sockaddr_in6.self)
            self.init(bytes: withUnsafeBytes(of: address.sin6_addr) { Array($0) })
        default: return nil
        }
    }
}

/// An answer that comes once, from the resolver or from cancellation, whichever is first.
private final class Answer: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<[IPAddress], any Error>)
        case given(Result<[IPAddress], any Error>)
        case taken
    }
    private let state = Mutex(State.open)

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
