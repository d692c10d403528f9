/// Says where text messages go. None is sent.
enum TextDiagnosis {
    private static let subject = "text messages"

    static func findings(_ configuration: SpindleConfiguration) -> [Finding] {
        switch configuration.sms {
        case nil: return []
        case .gateway(let url, _) where !url.hasPrefix("https://"):
            return [Finding(subject, .warning, "each is posted in the clear: codes that sign in can be read")]
        case .gateway?:
            return [Finding(subject, .good, "each is posted to \(configuration.sms?.description ?? ""), signed")]
        case .folder(let path)?:
            guard MailDiagnosis.isWritable(path) else {
                return [Finding(subject, .bad, "the folder \(path) cannot be written")]
            }
            guard configuration.issuer.isSecure else {
                return [Finding(subject, .good, "each becomes a file in \(path)")]
            }
            return [Finding(subject, .warning, "each becomes a file in \(path) and reaches no user: set SPINDLE_SMS")]
        }
    }
}
