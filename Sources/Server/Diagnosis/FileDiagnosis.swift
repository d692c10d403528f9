import Keys
import Mail
import System

/// Warns of files and folders that other users of this machine can read or change, or the server cannot.
enum FileDiagnosis {
    static func findings(_ configuration: SpindleConfiguration, configurationFile: String?) -> [Finding] {
        let secrets = secrets(configuration, configurationFile)
        let believed = believed(configuration, configurationFile).filter { file in
            !secrets.contains { $0.path == file.path }
        }
        return secrets.filter { Files.isOpenToOthers($0.path) }.map { file in
            warning("other users of this machine may read or change the \(file.name) \(file.path)")
        }
            + believed.filter { Files.isChangeableByOthers($0.path) }.map { file in
                warning("other users of this machine may change the \(file.name) \(file.path)")
            }
            + folders(secrets + believed, configuration) + owners(configuration)
    }

    private static func warning(_ text: String) -> Finding { Finding(ConfigurationDiagnosis.subject, .warning, text) }

    /// Files that the server trusts, and that all may read.
    private static func believed(
        _ configuration: SpindleConfiguration, _ configurationFile: String?
    ) -> [(name: String, path: String)] {
        var files: [(name: String, path: String)] = []
        if let path = configurationFile { files.append(("configuration", path)) }
        if case .server(let server) = configuration.mail, let path = server.authorities {
            files.append(("mail server's authorities", path))
        }
        return files.filter { Files.exists($0.path) }
    }

    private static func secrets(
        _ configuration: SpindleConfiguration, _ configurationFile: String?
    ) -> [(name: String, path: String)] {
        var files: [(name: String, path: String)] = []
        if case .file(let file) = configuration.masterKey { files.append(("master key file", file.path)) }
        if case .sqlite(let path) = configuration.database {
            files.append(("database", path))
            files += SQLiteFile.companions(of: path).map { ("database's", $0) }
        }
        if let tls = configuration.tls { files.append(("certificate's key", tls.key)) }
        if let path = configurationFile, let file = try? ConfigurationFile(path: path), file.hasSecret {
            files.append(("configuration with secrets", path))
        }
        return files.filter { Files.exists($0.path) }
    }

    /// A user who may write to a folder can replace or add files in it.
    private static func folders(
        _ secrets: [(name: String, path: String)], _ configuration: SpindleConfiguration
    ) -> [Finding] {
        let folders = Set(secrets.map { Files.folder(of: Files.resolved($0.path)) })
        var open = folders.filter(Files.isFolderOpenToOthers).sorted()
        if let templates = configuration.templates {
            open += all(in: Files.resolved(templates)).filter(Files.isFolderOpenToOthers).prefix(3)
        }
        return open.map { warning("other users of this machine may change or replace what is in \($0)") }
    }

    /// The folder or file at `path`, and what is in it.
    private static func all(in path: String, deep: Int = 3) -> [String] {
        guard deep > 0, let names = Files.names(in: path) else { return [path] }
        return [path] + names.sorted().flatMap { all(in: path + "/" + $0, deep: deep - 1) }
    }

    /// Root can read every file, so it cannot tell which ones the server cannot.
    private static func owners(_ configuration: SpindleConfiguration) -> [Finding] {
        guard case .sqlite(let path) = configuration.database, let key = configuration.masterKey.path,
            let one = Files.owner(of: path)?.user, let other = Files.owner(of: key)?.user, one != other
        else { return [] }
        return [
            warning("\(path) and \(key) belong to different users: the server may not be able to read both")
        ]
    }
}

extension ConfigurationFile {
    /// Whether it contains a key, or the password of a database or mail server.
    fileprivate var hasSecret: Bool {
        func text(_ key: ConfigurationKey) -> String {
            guard case .text(let text) = layer.settings[key.rawValue] else { return "" }
            return text
        }
        // The address of a gateway may contain a key in its query.
        return !text(.masterKey).isEmpty || !text(.smsSecret).isEmpty || text(.sms).contains("?")
            || text(.mail).contains("@") || DatabaseLocation(text(.database))?.hasPassword == true
    }
}
