import COpenSSL
import Glibc

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

/// Why a call of OpenSSL failed: an entry of the thread's error queue, described on request.
struct TLSFailure: Sendable, Equatable, CustomStringConvertible {
    private let code: UInt

    /// The oldest entry, which is the cause of the others. Empties the queue.
    static func latest() -> TLSFailure {
        let code = ERR_get_error()
        ERR_clear_error()
        return TLSFailure(code: code)
    }

    /// The queue was empty: the connection is gone.
    static let closed = TLSFailure(code: 0)
    /// The peer sends an unlimited number of records without data.
    static let noData = TLSFailure(code: .max)

    /// The first bytes are a request of http.
    var isPlainRequest: Bool { library == ERR_LIB_SSL && reason == SSL_R_HTTP_REQUEST }

    private var library: Int32 { ERR_GET_LIB(code) }
    private var reason: Int32 { ERR_GET_REASON(code) }

    var description: String {
        if self == .closed { return "connection closed" }
        if self == .noData { return "too many records without data" }
        if library == ERR_LIB_SYS { return unsafe String(cString: strerror(reason)) }
        guard let text = unsafe ERR_reason_error_string(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }

    func error(inCertificate file: String) -> TLSError {
        if library == ERR_LIB_SYS { return .unreadable(file: file, reason: description) }
        if library == ERR_LIB_SSL { return .refused(file: file, reason: description) }
        return .noCertificate(file: file)
    }

    func error(inKey file: String, of certificate: String) -> TLSError {
        switch (library, reason) {
        case (ERR_LIB_SYS, _): .unreadable(file: file, reason: description)
        case (ERR_LIB_X509, X509_R_KEY_VALUES_MISMATCH), (ERR_LIB_X509, X509_R_KEY_TYPE_MISMATCH):
            .wrongKey(file: file, certificate: certificate)
        // No password was given: the callback cancels.
        case (ERR_LIB_CRYPTO, _), (ERR_LIB_PEM, PEM_R_BAD_PASSWORD_READ): .encryptedKey(file: file)
        case (ERR_LIB_SSL, _): .refused(file: file, reason: description)
        default: .noKey(file: file)
        }
    }
}
