import CLinux
public import HTTP
public import Logging
import Synchronization

/// Serves a handler over HTTP/1.1, and with TLS over HTTP/2.
public final class WebServer: Sendable {
    private let loops: [EventLoop]
    private let service: Service
    private let tls: TLSSettings?
    private let tickets = TicketKeys()
    private let home = Mutex<EventLoop?>(nil)

    /// Without `tls`, connections are plain.
    public init(
        on loops: EventLoops, handler: any RequestHandler, limits: ServerLimits, tls: TLSSettings?, logger: Logger
    ) {
        self.loops = loops.loops
        self.tls = tls
        service = Service(handler: handler, limits: limits, logger: logger)
    }

    /// Binds and listens; port 0 means any. Returns the port. Throws when the address is in use or cannot be resolved,
    /// or when the certificate cannot be used.
    public func start(host: String, port: Int, backlog: Int = 1024) throws -> Int {
        if let tls { try exchange(tls: tls) }
        let listener = unsafe linux_listen(host, Int32(port), Int32(clamping: backlog))
        switch listener {
        case 0...: break
        case -EADDRINUSE: throw ServerError.addressInUse(host: host, port: port)
        case -linux_unresolved: throw ServerError.unresolved(host: host)
        default: throw ServerError.system("listen at \(host) port \(port)", code: -listener)
        }
        let loop = home.withLock { home in
            home = loops[0]
            return loops[0]
        }
        loop.submit { [service, loops] core in
            core.add(Acceptor(listener, service: service, loops: loops, home: loop))
        }
        return Int(linux_port(listener))
    }

    /// Uses a new certificate for new connections; throws and keeps the old one when the new one cannot be used.
    public func exchange(tls: TLSSettings) throws { try preparing(tls: tls)() }

    /// Reads the files of `tls`, and returns a function that installs the certificate, so that several servers change
    /// theirs only if all can read the files.
    public func preparing(tls: TLSSettings) throws -> () -> Void {
        let context = try TLSContext(tls, tickets: tickets)
        return { [service] in service.tls = context }
    }

    /// When the certificate of new connections ends, in seconds since 1970; nil without TLS.
    public var certificateEnd: Int64? { service.tls?.certificateEnd }

    /// Accepts what is in the queue, then nothing more. Finishes running requests, and returns when all connections
    /// have ended or after `grace`.
    public func drain(grace: Duration) async {
        let end = ContinuousClock.now + grace
        await stopAccepting()
        while isBusy, ContinuousClock.now < end, !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(5))
        }
        for loop in loops { loop.submit { [service] core in core.closeAll(of: service) } }
    }

    private var isBusy: Bool {
        service.open.load(ordering: .sequentiallyConsistent) > 0 || service.working.load(ordering: .relaxed) > 0
    }

    private func stopAccepting() async {
        guard let home = home.withLock({ $0 }) else { return service.startDraining() }
        await withCheckedContinuation { continuation in
            home.submit { [service, loops] core in
                let acceptor = core.acceptor(of: service)
                acceptor?.acceptRest(core.now)
                service.startDraining()
                acceptor?.close()
                core.removeAcceptor(of: service)
                for loop in loops { loop.submit { core in core.drain(service) } }
                continuation.resume()
            }
        }
    }
}

/// The limits that a server sets for its clients.
public struct ServerLimits: Sendable, Hashable {
    /// Connections at once; more have to wait to be accepted.
    public var maxConnections = 4096
    /// How long a TLS handshake may take, and a request's header and body together.
    public var requestTimeout: Duration = .seconds(10)
    /// How long a connection may be silent between two requests.
    public var idleTimeout: Duration = .seconds(60)
    /// How long the peer may take to read 64 KiB of a response, or what is left of it.
    public var answerTimeout: Duration = .seconds(30)
    /// The largest request target in bytes.
    public var maxTarget = 8 * 1024
    /// The largest header in bytes, over all its field lines.
    public var maxHeader = 32 * 1024
    /// The largest number of field lines.
    public var maxFields = 100

    public init() {}
}

/// The limits that are times, in the unit of the loops' clock.
struct ServerTimes {
    let request: Milliseconds
    let idle: Milliseconds
    let answer: Milliseconds

    init(_ limits: ServerLimits) {
        request = limits.requestTimeout.milliseconds
        idle = limits.idleTimeout.milliseconds
        answer = limits.answerTimeout.milliseconds
    }
}

/// Why a server cannot listen or a loop cannot start.
public enum ServerError: Error, Sendable, Equatable, CustomStringConvertible {
    case addressInUse(host: String, port: Int)
    case unresolved(host: String)
    /// A call to the system failed with this errno.
    case system(String, code: Int32)

    public var description: String {
        switch self {
        case .addressInUse(let host, let port):
            "\(host) port \(port) is in use: stop the other server, or choose another port with --listen"
        case .unresolved(let host): "\(host) has no address"
        case .system(let call, let code): "\(call): \(Self.text(of: code))"
        }
    }

    private static func text(of code: Int32) -> String {
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }
}
