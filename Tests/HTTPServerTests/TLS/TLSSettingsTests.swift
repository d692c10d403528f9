import Foundation
import Testing

@testable import HTTPServer

@Suite("TLS: certificate and key") struct TLSSettingsTests {
    private let good: TestCertificate

    init() throws { good = try TestCertificate() }

    @Test("The expiry time of a TLS certificate can be read without starting a server")
    func end() throws {
        let expected = Int64(Date.now.timeIntervalSince1970) + 86_400
        #expect(abs(try good.settings.certificateEnd() - expected) < 60)
    }

    @Test("An expired TLS certificate is read without an error")
    func expired() throws {
        let expired = try TestCertificate(seconds: -60)
        #expect(try expired.settings.certificateEnd() < Int64(Date.now.timeIntervalSince1970))
    }

    @Test("The error for a missing TLS certificate or key file names the file")
    func missing() throws {
        let missing = good.folder.path + "/none.pem"
        let text = "cannot read \(missing): No such file or directory"
        #expect(error(of: TLSSettings(certificate: missing, key: good.key)) == text)
        #expect(error(of: TLSSettings(certificate: good.certificate, key: missing)) == text)
    }

    @Test("The error for a TLS certificate or key file with other content names the file")
    func garbage() throws {
        let garbage = try good.file("garbage.pem", "garbage")
        #expect(error(of: TLSSettings(certificate: garbage, key: good.key)) == "\(garbage) contains no PEM certificate")
        #expect(
            error(of: TLSSettings(certificate: good.key, key: good.key)) == "\(good.key) contains no PEM certificate")
        #expect(
            error(of: TLSSettings(certificate: good.certificate, key: garbage))
                == "\(garbage) contains no PEM private key")
    }

    @Test(
        "A TLS key that belongs to another certificate is refused, and the error names both files",
        arguments: ["P-256", "P-384"])
    func another(_ curve: String) throws {
        let other = try TestCertificate(curve: curve)
        let text = "the private key in \(other.key) does not belong to the certificate in \(good.certificate)"
        #expect(error(of: TLSSettings(certificate: good.certificate, key: other.key)) == text)
    }

    @Test("An encrypted TLS key is refused without asking for its password")
    func encrypted() throws {
        let key = good.encryptedKey()
        let text = "the private key in \(key) is encrypted"
        #expect(error(of: TLSSettings(certificate: good.certificate, key: key)) == text)
    }

    private func error(of settings: TLSSettings) -> String? {
        do throws(TLSError) {
            _ = try settings.certificateEnd()
            return nil
        } catch { return error.description }
    }
}
