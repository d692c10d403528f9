import Glibc
public import Logging
import Storage
public import Values

/// Listens, sweeps, and stops when told to: new work is refused, what is in flight is finished.
public struct RunningServer: Sendable {
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

    /// Runs until SIGTERM or SIGINT; another of them hastens nothing. SIGHUP exchanges the certificate.
    public func run() async throws {
        let stop = StopSignal()
        let listeners = try Listeners(spindle, configuration, logger)
        var watches = [SignalWatch(SIGTERM, SIGINT) { stop.send() }]
        // A reload ends no server, also where there is no certificate to exchange; closing its terminal does.
        if configuration.tls != nil || isatty(STDIN_FILENO) == 0 {
            watches.append(SignalWatch(SIGHUP) { listeners.renewCertificate() })
        }
        defer { for watch in watches { watch.cancel() } }
        try await run(listeners, until: stop)
    }

    /// Runs until `stop`, whatever signals come.
    public func run(until stop: StopSignal) async throws {
        try await run(try Listeners(spindle, configuration, logger), until: stop)
    }

    private func run(_ listeners: Listeners, until stop: StopSignal) async throws {
        await onListening(try await listeners.start())
        let services: [any BackgroundService] = [
            // Ends last, so that what the last requests posted still leaves.
            spindle.delivery,
            listeners,
            KeyRotationService(
                keys: spindle.signingKeys, clients: spindle.clients, period: configuration.keyRotation, clock: clock,
                logger: logger),
            Sweeper(retention: spindle.retention, deletion: spindle.deletion, clock: clock, logger: logger),
        ]
        await BackgroundServices(services: services, grace: Self.graceTime, inTheLastSecond: spindle.database.abandon)
            .run(until: stop)
    }
}
