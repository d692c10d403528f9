import HTTPServer
import Values

/// Checks whether the certificate can be served, and for how much longer.
enum CertificateDiagnosis {
    private static let subject = "certificate"
    /// An automatic renewal has normally happened by then.
    static let notice: Duration = .days(14)

    /// No findings when another server terminates TLS.
    static func findings(_ configuration: SpindleConfiguration, at now: Timestamp) -> [Finding] {
        guard let files = configuration.tls else { return [] }
        do {
            let settings = TLSSettings(certificate: files.certificate, key: files.key)
            // RFC 5280 §4.1.2.5: the latest time that can be written is in the year 9999.
            let end = Timestamp(milliseconds: 0) + .seconds(try settings.certificateEnd())
            return [finding(files.certificate, end: end, at: now)]
        } catch {
            return [Finding(subject, .bad, "\(error)")]
        }
    }

    static func finding(_ file: String, end: Timestamp, at now: Timestamp) -> Finding {
        guard now < end else { return Finding(subject, .bad, "\(file) ended at \(end.iso8601)") }
        let state: Finding.State = end - now < notice ? .warning : .good
        return Finding(subject, state, "\(file) ends at \(end.iso8601)")
    }
}
