import Foundation

/// Where this machine keeps PostgreSQL's server programs, and how to run them: the server refuses to run as root.
struct PostgreSQLBinaries: Sendable {
    let folder: String
    /// What stands before a command so that it runs as somebody unprivileged; empty when we are nobody special.
    let prefix: [String]
    /// Who that is; nil when it is we.
    let user: (id: uid_t, group: gid_t)?

    /// Nil when the machine has no server, or nobody who could run it.
    static let found: PostgreSQLBinaries? = {
        guard let folder = folders.first(where: { has("initdb", in: $0) && has("pg_ctl", in: $0) }) else { return nil }
        guard geteuid() == 0 else { return PostgreSQLBinaries(folder: folder, prefix: [], user: nil) }
        for name in ["postgres", "nobody"] {
            guard let entry = getpwnam(name)?.pointee,
                let setpriv = path.map({ $0 + "/setpriv" }).first(where: FileManager.default.isExecutableFile)
            else { continue }
            return PostgreSQLBinaries(
                folder: folder,
                prefix: [setpriv, "--reuid=\(entry.pw_uid)", "--regid=\(entry.pw_gid)", "--clear-groups"],
                user: (entry.pw_uid, entry.pw_gid))
        }
        return nil
    }()

    /// `createdb` on its own, for a server that somebody else runs.
    static let createdb: String? = folders.first { has("createdb", in: $0) }.map { $0 + "/createdb" }

    private static let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)

    /// The search path, then where Debian puts each release, newest first.
    private static var folders: [String] {
        let root = "/usr/lib/postgresql"
        let releases = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return path + releases.compactMap(Int.init).sorted(by: >).map { "\(root)/\($0)/bin" }
    }

    private static func has(_ name: String, in folder: String) -> Bool {
        FileManager.default.isExecutableFile(atPath: "\(folder)/\(name)")
    }
}
