import Pages

/// Checks whether pages and mails can be rendered with the templates in an operator's folder.
enum PagesDiagnosis {
    private static let subject = "pages"

    static func finding(_ configuration: SpindleConfiguration) -> Finding {
        do {
            _ = try Templates(configuration)
        } catch {
            return Finding(subject, .bad, "\(ConfigurationKey.templates.rawValue): \(error)")
        }
        guard let folder = configuration.templates else { return Finding(subject, .good, "all are Spindle's own") }
        return Finding(subject, .good, "the files in \(folder) replace Spindle's own")
    }
}
