import HTTPServer

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
