/// Why a certificate or its key cannot be used.
public enum TLSError: Error, Hashable, CustomStringConvertible {
    case unreadable(file: String, reason: String)
    case noCertificate(file: String)
    case noKey(file: String)
    case encryptedKey(file: String)
    /// The key belongs to another certificate.
    case wrongKey(file: String, certificate: String)
    /// OpenSSL refuses the content of the file: too small a key, a weak signature.
    case refused(file: String, reason: String)
    /// OpenSSL cannot be set up with this machine's configuration.
    case unavailable(reason: String)

    public var description: String {
        switch self {
        case .unreadable(let file, let reason): "cannot read \(file): \(reason)"
        case .noCertificate(let file): "\(file) contains no PEM certificate"
        case .noKey(let file): "\(file) contains no PEM private key"
        case .encryptedKey(let file): "the private key in \(file) is encrypted"
        case .wrongKey(let file, let certificate):
            "the private key in \(file) does not belong to the certificate in \(certificate)"
        case .refused(let file, let reason): "\(file) cannot be used: \(reason)"
        case .unavailable(let reason): "OpenSSL cannot be set up: \(reason)"
        }
    }
}
