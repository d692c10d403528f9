import HTTPServer
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

/// A file of the certificate that cannot be used, under the setting that names it.
struct CertificateFault: Error, CustomStringConvertible {
    private let setting: ConfigurationKey
    private let reason: TLSError

    /// Nil where the fault is not in `files`.
    init?(_ reason: TLSError, in files: TLSSettings) {
        switch reason {
        case .unavailable: return nil
        case .noCertificate: setting = .tlsCertificate
        case .noKey, .encryptedKey, .wrongKey: setting = .tlsKey
        case .unreadable(let file, _), .refused(let file, _):
            setting = file == files.certificate ? .tlsCertificate : .tlsKey
        }
        self.reason = reason
    }

    /// Whether the same files would fail later, too. Other files may be about to be renewed or mounted.
    var isLasting: Bool { if case .encryptedKey = reason { true } else { false } }

    var description: String { "\(setting.rawValue): \(reason)" }
}
