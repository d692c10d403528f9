public import Cryptography
import HTTP
public import Logging
import Synchronization
import Values

/// Numbers requests, and makes a request's logger when it is needed.
public final class RequestLog: Sendable {
    private let logger: Logger
    let address: ClientAddress
    /// 16 digits that distinguish the requests of this process from those of others, and room for a request's own.
    private let digits: [UInt8]
    private let count: Atomic<UInt64>

    public init(_ logger: Logger, address: ClientAddress, random: any RandomSource) {
        self.logger = logger
        self.address = address
        digits = Array(Hexadecimal.encode(random.bytes(8) + [UInt8](repeating: 0, count: 8)).utf8)
        count = Atomic(random.bytes(8).reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// The number of the next request.
    func next() -> UInt64 { count.wrappingAdd(1, ordering: .relaxed).newValue }

    /// The id of a request, for the log and for the user who sees an error: 32 hexadecimal digits, or the id that a
    /// trusted proxy gave it.
    func id(of request: Request) -> String {
        guard let given = request.givenID, address.isOfProxy(request) else { return own(request.serial) }
        return given
    }

    /// The id that the response carries, which is the caller's own if it sent one.
    func told(to request: Request) -> String { request.givenID ?? own(request.serial) }

    /// Takes note of a request that the HTTP server refuses by itself, and returns its id. Anyone can send them by the
    /// thousand, so equal ones are counted.
    func refuse(_ request: UnreadRequest) -> String {
        let id = own(next())
        var metadata: Logger.Metadata = [
            "reason": "\(request.reason)", "detail": "\(request.rule)",
            "address": "\(ClientAddress.forLog(peer: request.peer))", "request_id": "\(id)",
        ]
        if let status = request.status { metadata["status"] = "\(status.code)" }
        logger.log(level: .info, "refused", metadata: metadata, isOfServer: true)
        return id
    }

    /// Made for every response, so it costs two allocations and no more.
    private func own(_ serial: UInt64) -> String {
        var (digits, rest) = (digits, serial)
        for place in (16..<32).reversed() {
            let value = UInt8(truncatingIfNeeded: rest & 15)
            digits[place] = value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
            rest >>= 4
        }
        return String(decoding: digits, as: UTF8.self)
    }

    func logger(of request: Request) -> Logger {
        var logger = logger
        logger[metadataKey: "request_id"] = .string(id(of: request))
        if let trace = request.traceparent, address.isOfProxy(request) {
            logger[metadataKey: "traceparent"] = .string(trace)
        }
        return logger
    }
}

extension Request {
    /// The id that the caller gave the request: 1 to 64 characters of `A-Za-z0-9._-`. Any other text is passed over.
    fileprivate var givenID: String? {
        headers[.xRequestID].flatMap { id in
            (1...64).contains(id.utf8.count) && id.utf8.allSatisfy(\.mayBeOfID) ? id : nil
        }
    }

    /// The place of the request in a trace: version, trace, span and flags in hexadecimal digits (Trace Context §3.2).
    fileprivate var traceparent: String? {
        headers[.traceparent].flatMap { text in
            let parts = text.split(separator: "-", omittingEmptySubsequences: false)
            let isWhole = parts.map(\.utf8.count) == [2, 32, 16, 2]
            return isWhole && parts.allSatisfy { $0.utf8.allSatisfy(\.isHexadecimal) } ? text : nil
        }
    }
}

extension UInt8 {
    fileprivate var mayBeOfID: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
