import Logging
import Values

/// Logs once a day that the certificate in use ends soon, or has ended: a renewal failed, or the server was not told to
/// reload.
struct CertificateWatch: BackgroundService {
    let end: @Sendable () -> Timestamp?
    let clock: any WallClock
    let logger: Logger

    private static let interval: Duration = .days(1)

    func run(until stop: StopSignal) async {
        await stop.cancelling {
            while !Task.isCancelled {
                look()
                try? await Task.sleep(for: Self.interval)
            }
        }
    }

    func look() {
        guard let end = end() else { return }
        let left = end - clock.now
        guard left < CertificateDiagnosis.notice else { return }
        let isOver = left <= .zero
        logger.log(
            level: isOver ? .error : .warning, isOver ? "the certificate has ended" : "the certificate ends soon",
            metadata: ["ends": "\(end.iso8601)"])
    }
}
