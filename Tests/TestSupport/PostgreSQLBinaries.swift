import Foundation

/// Where PostgreSQL's server programs are on this machine, and how to run them: the server refuses to run as root.
struct PostgreSQLBinaries: Sendable {
    let folder: String
    /// The command prefix that switches to an unprivileged system user; empty when this process is not root.
    let prefix: [String]
    /// That system user; nil for the user of this process.
    let user: (id: uid_t, group: gid_t)?

    /// Nil when the machine has no server, or no system user to run it.
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

    /// `createdb` alone, for a server that is already running. Beside the server's programs it is no script that first
    /// looks for a release.
    static let createdb: String? = ((found.map { [$0.folder] } ?? []) + folders).first { has("createdb", in: $0) }
        .map { $0 + "/createdb" }

    private static let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)

    /// The search path, then Debian's folder for each release, newest first.
    private static var folders: [String] {
        let root = "/usr/lib/postgresql"
        let releases = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return path + releases.compactMap(Int.init).sorted(by: >).map { "\(root)/\($0)/bin" }
    }

    private static func has(_ name: String, in folder: String) -> Bool {
        FileManager.default.isExecutableFile(atPath: "\(folder)/\(name)")
    }
}
