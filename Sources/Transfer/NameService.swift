import Dispatch
import Foundation
import Synchronization
public import Values

/// Asks the machine's own resolver, on threads apart: it blocks, and nothing stops it once it was asked.
public final class NameService: Sendable {
    private let queue: DispatchQueue
    private let mostAtOnce: Int
    private let lookUp: @Sendable (String) -> [IPAddress]
    private let asking = Mutex(0)

    public convenience init(mostAtOnce: Int = 8) { self.init(mostAtOnce: mostAtOnce, lookUp: Self.addresses) }

    init(mostAtOnce: Int, lookUp: @escaping @Sendable (String) -> [IPAddress]) {
        self.mostAtOnce = mostAtOnce
        self.lookUp = lookUp
        queue = DispatchQueue(label: "spindle.names", attributes: .concurrent)
    }

    /// Returns every address of `host`, in the order in which they should be tried; none for an unknown host.
    ///
    /// Throws `NameServiceError`, or `CancellationError` as soon as the task is cancelled.
    public func addresses(of host: String, within limit: Duration) async throws -> [IPAddress] {
        // The threads that hang in a dead name service must not become many.
        let mayAsk = asking.withLock { count in
            guard count < mostAtOnce else { return false }
            count += 1
            return true
        }
        guard mayAsk else { throw NameServiceError.busy }
        let answer = PendingAddresses()
        queue.async {
            let addresses = self.lookUp(host)
            self.asking.withLock { $0 -= 1 }
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
        // One entry an address, rather than one for each kind of socket.
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
