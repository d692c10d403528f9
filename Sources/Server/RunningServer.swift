import Audit
import Glibc
public import Logging
import Storage
public import Values

/// Listens, runs the background services, and stops on request: running requests finish, new ones are refused.
public struct RunningServer: Sendable {
    private let spindle: Spindle
    private let configuration: SpindleConfiguration
    private let clock: any WallClock
    private let logger: Logger
    private let onListening: @Sendable (Int) async -> Void

    /// How long requests running at SIGTERM may take.
    public static let graceTime: Duration = .seconds(10)
    /// How long a piece of database work may take in the last second of that.
    private static let longestWorkInTheLastSecond: Duration = .milliseconds(500)

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

    /// Runs until SIGTERM or SIGINT; a second one changes nothing. SIGHUP reloads the certificate.
    public func run() async throws {
        let stop = StopSignal()
        let listeners = try Listeners(spindle, configuration, logger)
        var watches = [SignalWatch(SIGTERM, SIGINT) { stop.send() }]
        // SIGHUP must not end a server that has no certificate to reload, unless its terminal was closed.
        if configuration.tls != nil || isatty(STDIN_FILENO) == 0 {
            watches.append(SignalWatch(SIGHUP) { listeners.renewCertificate() })
        }
        defer { for watch in watches { watch.cancel() } }
        try await run(listeners, until: stop)
    }

    /// Runs until `stop`, and ignores signals.
    public func run(until stop: StopSignal) async throws {
        try await run(try Listeners(spindle, configuration, logger), until: stop)
    }

    private func run(_ listeners: Listeners, until stop: StopSignal) async throws {
        await onListening(try await listeners.start())
        let services: [any BackgroundService] = [
            // Ends last, so that it still sends what the last requests queued.
            spindle.delivery,
            // It stores what the last requests noted.
            AuditService(
                log: spindle.audit, chain: spindle.eventChain(clock),
                retention: configuration.eventRetention, configuration: configuration.given, logger: logger),
            listeners,
            CertificateWatch(end: { listeners.certificateEnd }, clock: clock, logger: logger),
            KeyRotationService(
                keys: spindle.signingKeys, clients: spindle.clients, period: configuration.keyRotation, clock: clock,
                logger: logger),
            Sweeper(
                retention: spindle.retention, deletion: spindle.deletion, clients: spindle.clients,
                merchants: spindle.merchants, issuers: spindle.issuers, clock: clock, logger: logger),
        ]
        await BackgroundServices(services: services, grace: Self.graceTime) { [database = spindle.database] in
            database.abandonWork(over: Self.longestWorkInTheLastSecond)
        }.run(until: stop)
    }
}
