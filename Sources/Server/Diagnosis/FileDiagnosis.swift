import Keys
import System

/// Warns of files with secrets that other users of this machine can read or change.
enum FileDiagnosis {
    static func findings(_ configuration: SpindleConfiguration, configurationFile: String?) -> [Finding] {
        var files: [(name: String, path: String)] = []
        if case .file(let file) = configuration.masterKey { files.append(("master key file", file.path)) }
        if case .sqlite(let path) = configuration.database { files.append(("database", path)) }
        if let tls = configuration.tls { files.append(("certificate's key", tls.key)) }
        if let path = configurationFile, let file = try? ConfigurationFile(path: path), file.hasSecret {
            files.append(("configuration with secrets", path))
        }
        return files.filter { Files.isOpenToOthers($0.path) }.map { file in
            Finding(
                ConfigurationDiagnosis.subject, .warning,
                "other users of this machine may read or change the \(file.name) \(file.path)")
        }
    }
}

extension ConfigurationFile {
    /// Whether it says a key, or the password of a database or mail server.
    fileprivate var hasSecret: Bool {
        func text(_ key: ConfigurationKey) -> String {
            guard case .text(let text) = layer.settings[key.rawValue] else { return "" }
            return text
        }
        // The address of a gateway may have a key in its query.
        return !text(.masterKey).isEmpty || !text(.smsSecret).isEmpty || text(.sms).contains("?")
            || text(.mail).contains("@") || DatabaseLocation(text(.database))?.hasPassword == true
    }
}
