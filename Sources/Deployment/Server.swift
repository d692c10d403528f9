import Endpoints
import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import HummingbirdTLS
public import Logging
import NIOCore
import NIOSSL
import OAuth
public import ServiceLifecycle
import UnixSignals
public import Values

/// Listens, sweeps, and stops when told to: new work is refused, what is in flight is finished.
public struct Server: Sendable {
    private let spindle: Spindle
    private let configuration: SpindleConfiguration
    private let clock: any WallClock
    private let logger: Logger
    private let onListening: @Sendable (Int) async -> Void

    /// What is in flight at SIGTERM gets this long.
    public static let graceTime: Duration = .seconds(10)

    /// `onListening` is called with the port of the public address once it is bound.
    public init(
        spindle: Spindle, configuration: SpindleConfiguration, clock: any WallClock = SystemClock(), logger: Logger,
        onListening: @escaping @Sendable (Int) async -> Void = { _ in }
    ) {
        self.spindle = spindle
        self.configuration = configuration
        self.clock = clock
        self.logger = logger
        self.onListening = onListening
    }

    /// Runs until SIGTERM or SIGINT.
    public func run() async throws {
        var group = ServiceGroupConfiguration(
            services: try services().map { .init(service: $0) }, gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger)
        group.maximumGracefulShutdownDuration = Self.graceTime
        try await ServiceGroup(configuration: group).run()
    }

    /// The postman, the listeners and the sweeper, for whoever runs them.
    public func services() throws -> [any Service] {
        // Ends last, so that what the last requests posted still leaves.
        var services: [any Service] = [spindle.postman]
        services.append(try listener(spindle.publicResponder, on: configuration.listen))
        if let responder = spindle.adminResponder, let address = configuration.adminListen {
            services.append(try listener(responder, on: address))
        }
        services.append(
            KeyKeeper(keys: spindle.signingKeys, period: configuration.keyRotation, clock: clock, logger: logger))
        services.append(Sweeper(retention: spindle.retention, deletion: spindle.deletion, clock: clock, logger: logger))
        return services
    }

    private func listener(
        _ responder: RouterResponder<SpindleContext>, on address: ListenAddress
    ) throws -> some Service {
        let isPublic = address == configuration.listen
        return Application(
            responder: responder,
            server: try protocols(),
            configuration: ApplicationConfiguration(
                address: .hostname(address.host, port: address.port), serverName: nil, backlog: 1024,
                availableConnectionsDelegate: .maximum(configuration.maxConnections, logger: logger)),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? address.port
                logger.info("listening", metadata: ["address": "\(address.host):\(port)"])
                if isPublic { await onListening(port) }
            },
            logger: logger)
    }

    private func protocols() throws -> HTTPServerBuilder {
        let (request, idle) = (TimeAmount(configuration.requestTimeout), TimeAmount(configuration.idleTimeout))
        let http1 = HTTP1Channel.Configuration(
            additionalChannelHandlers: [SlowClientHandler(request: request, idle: idle)],
            idleTimeout: idle,
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: 16 * 1024, maxHeaderListSize: 32 * 1024, maxHeaderFieldCount: 100))
        guard let tls = configuration.tls else { return .http1(configuration: http1) }
        var tlsConfiguration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(tls.certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: tls.key, format: .pem)))
        tlsConfiguration.minimumTLSVersion = .tlsv12
        let http2 = HTTP2ChannelConfiguration(
            idleTimeout: configuration.idleTimeout, gracefulCloseTimeout: Self.graceTime, streamConfiguration: http1)
        return HTTPServerBuilder { [tlsConfiguration] responder in
            HandshakeDeadline(
                base: try HTTP2UpgradeChannel(
                    tlsConfiguration: tlsConfiguration, configuration: http2, responder: responder),
                limit: request)
        }
    }
}
