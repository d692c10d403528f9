import COpenSSL
import Foundation

/// A certificate for a name, with its key, in files that are removed with this object.
final class TestCertificate {
    let folder: URL
    var certificate: String { folder.appendingPathComponent("certificate.pem").path }
    var key: String { folder.appendingPathComponent("key.pem").path }

    /// Valid from now on for `seconds`.
    init(_ name: String = "id.example", seconds: Int = 86_400, curve: String = "P-256") throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let key = spindle_generate_ec(curve)
        let certificate = X509_new()
        defer {
            EVP_PKEY_free(key)
            X509_free(certificate)
        }
        X509_set_version(certificate, 2)
        ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1)
        X509_gmtime_adj(X509_getm_notBefore(certificate), 0)
        X509_gmtime_adj(X509_getm_notAfter(certificate), seconds)
        let subject = X509_get_subject_name(certificate)
        X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, name, -1, -1, 0)
        X509_set_issuer_name(certificate, subject)
        X509_set_pubkey(certificate, key)
        guard X509_sign(certificate, key, EVP_sha256()) > 0 else { throw CocoaError(.fileWriteUnknown) }
        write(self.certificate) { PEM_write_bio_X509($0, certificate) }
        write(self.key) { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The path of the same key, encrypted with a password.
    func encryptedKey() -> String {
        let path = folder.appendingPathComponent("encrypted.pem").path
        let input = BIO_new_file(key, "r")
        let key = PEM_read_bio_PrivateKey(input, nil, nil, nil)
        defer {
            BIO_free(input)
            EVP_PKEY_free(key)
        }
        let password = Array("password".utf8)
        write(path) { PEM_write_bio_PrivateKey($0, key, EVP_aes_256_cbc(), password, Int32(password.count), nil, nil) }
        return path
    }

    func file(_ name: String, _ text: String) throws -> String {
        let file = folder.appendingPathComponent(name)
        try text.write(to: file, atomically: true, encoding: .utf8)
        return file.path
    }

    private func write(_ path: String, _ body: (OpaquePointer?) -> Int32) {
        let output = BIO_new_file(path, "w")
        _ = body(output)
        BIO_free(output)
    }
}
