import Cryptography
import HTTP
import HTTPServer
import HTTPSupport
import Logging
import System
import Values

/// The addresses that the server listens at: the public one, and the one for administration if it is set.
struct Listeners: BackgroundService {
    private struct Listener {
        let server: WebServer
        let address: ListenAddress
    }
    private let loops: EventLoops
    private let listeners: [Listener]
    private let limits: ServerLimits
    private let maxConnections: Int
    private let tls: TLSSettings?
    /// Whether only a proxy can serve the issuer, and none is named.
    private let lacksProxy: Bool
    private let logger: Logger

    init(_ spindle: Spindle, _ configuration: SpindleConfiguration, _ logger: Logger) throws {
        let tls = configuration.tls.map { TLSSettings(certificate: $0.certificate, key: $0.key) }
        var limits = ServerLimits()
        let most = Self.most(with: OpenFiles.raiseLimit(), for: spindle.adminRouter == nil ? 1 : 2)
        limits.maxConnections = min(configuration.maxConnections, most)
        limits.requestTimeout = configuration.requestTimeout
        limits.idleTimeout = configuration.idleTimeout
        let loops = try EventLoops(count: HashingPool.cores)
        func listener(_ router: any RequestHandler, _ address: ListenAddress) -> Listener {
            Listener(
                server: WebServer(on: loops, handler: router, limits: limits, tls: tls, logger: logger),
                address: address)
        }
        var listeners = [listener(spindle.publicRouter, configuration.listen)]
        if let router = spindle.adminRouter, let address = configuration.adminListen {
            listeners.append(listener(router, address))
        }
        self.loops = loops
        self.listeners = listeners
        self.limits = limits
        maxConnections = configuration.maxConnections
        self.tls = tls
        lacksProxy = tls == nil && Site(configuration).isSecure && configuration.trustedProxies.isEmpty
        self.logger = logger
    }

    /// Files that are open besides connections: databases, logs, requests to other servers.
    private static let otherFiles: Int64 = 400

    /// How many connections per address the limit of open files allows, for `count` addresses.
    static func most(with files: Int64, for count: Int) -> Int {
        Int(clamping: max(files / 2, files - otherFiles)) / count
    }

    /// Binds all addresses and returns the port of the public one. Throws when an address is taken, or the certificate
    /// cannot be used.
    func start() async throws -> Int {
        if limits.maxConnections < maxConnections {
            logger.warning(
                "fewer files may be open than max_connections needs",
                metadata: ["max_connections": "\(maxConnections)", "used": "\(limits.maxConnections)"])
        }
        if lacksProxy {
            logger.warning(
                "the issuer is https and this server speaks http: users must come through a proxy that serves https, "
                    + "named in trusted_proxies; by http they cannot sign in")
        }
        do {
            let ports = try listeners.map { listener in
                let port = try listener.server.start(host: listener.address.host, port: listener.address.port)
                logger.info("listening", metadata: ["address": "\(listener.address.host):\(port)"])
                return port
            }
            if let tls { logger.info("certificate loaded", metadata: Self.facts(of: tls)) }
            return ports.first ?? 0
        } catch {
            await loops.shutdown()
            guard let tls, let reason = error as? TLSError, let fault = CertificateFault(reason, in: tls) else {
                throw error
            }
            throw fault
        }
    }

    func run(until stop: StopSignal) async {
        await stop.wait()
        // Concurrently, so that a connection to one address does not keep the other open.
        await withTaskGroup { group in
            for listener in listeners {
                group.addTask { await listener.server.drain(grace: RunningServer.graceTime) }
            }
        }
        await loops.shutdown()
    }

    /// Reads the certificate again for new connections. Existing connections keep theirs.
    func renewCertificate() {
        guard let tls else { return }
        do {
            // Reading a pipe or device could block without limit.
            if let file = [tls.certificate, tls.key].first(where: Files.isSpecial) {
                throw CommandFailure("\(file) is not a file", .configuration)
            }
            for exchange in try listeners.map({ try $0.server.preparing(tls: tls) }) { exchange() }
            logger.notice("certificate exchanged", metadata: Self.facts(of: tls))
        } catch {
            logger.error("certificate not exchanged", metadata: ["reason": "\(error)"])
        }
    }

    /// When the certificate of new connections ends; nil without TLS, or before the start.
    var certificateEnd: Timestamp? { listeners.first?.server.certificateEnd.flatMap { Timestamp(seconds: $0) } }

    private static func facts(of tls: TLSSettings) -> Logger.Metadata {
        let end = (try? tls.certificateEnd()).flatMap { Timestamp(seconds: $0)?.iso8601 }
        return ["file": "\(tls.certificate)", "ends": "\(end ?? "-")"]
    }
}
