import Foundation

/// A temporary PostgreSQL server on a private socket, which is removed when the test process ends.
public actor PostgreSQLCluster {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// The URL of a running server to use instead: `postgresql://…`, with a user who may create databases.
    private static let givenURL = ProcessInfo.processInfo.environment["SPINDLE_TEST_POSTGRESQL"]
    private static let mustExist = ProcessInfo.processInfo.environment["CI"] == "true"

    private static let durable = Task { try await start(isDurable: true) }
    private static let quick = Task { try await start(isDurable: false) }

    private static func start(isDurable: Bool) async throws -> PostgreSQLCluster? {
        if let givenURL { return PostgreSQLCluster(serverURL: givenURL, lifeline: nil) }
        guard let binaries = PostgreSQLBinaries.found else {
            guard !mustExist else { throw Failure(description: "CI=true, but there is no PostgreSQL server here") }
            return nil
        }
        return try await launch(binaries, isDurable: isDurable)
    }

    /// Whether there is a server, or must be one.
    public static var isAvailable: Bool { givenURL != nil || PostgreSQLBinaries.found != nil || mustExist }

    /// The cluster of this process; nil when the machine has no PostgreSQL server. Unless `isDurable` is false, its
    /// acknowledged commits survive a crash of the machine, as in production.
    public static func shared(isDurable: Bool = true) async throws -> PostgreSQLCluster? {
        try await (isDurable ? durable : quick).value
    }

    private let serverURL: String
    /// The server stops when this pipe closes: the kernel closes it however this process ends.
    private let lifeline: FileHandle?
    private var databases = 0

    private init(serverURL: String, lifeline: FileHandle?) {
        self.serverURL = serverURL
        self.lifeline = lifeline
    }

    /// The URL of a new database: a copy of `template`, which has no connections, or an empty one.
    public func freshDatabaseURL(
        encoding: String = "UTF8", copying template: String = "template0"
    ) async throws -> String {
        databases += 1
        let name = "spindle_test_\(getpid())_\(databases)"
        guard let createdb = PostgreSQLBinaries.createdb else { throw Failure(description: "no createdb here") }
        // template1 may have connections, which block a copy; template0 never has any.
        _ = try await run([
            createdb, "--maintenance-db=\(url(of: "postgres"))", "--template=\(template)", "--encoding=\(encoding)",
            "--locale=C", name,
        ])
        return url(of: name)
    }

    private func url(of database: String) -> String {
        guard var url = URLComponents(string: serverURL) else { return serverURL }
        url.path = "/" + database
        return url.string ?? serverURL
    }

    // The shell runs between this process and the server. When its standard input ends, it stops the server and cleans
    // up, even after a crash of this process. It ignores Ctrl-C, which reaches the whole foreground group.
    private static let script = """
        trap '' INT TERM HUP
        cd "$1" || exit 1
        sweep() { rm -rf "$1"; }
        # Only for who may lose what it acknowledged when the machine falls.
        quick="-c fsync=off -c full_page_writes=off -c wal_level=minimal -c max_wal_senders=0"
        [ "$3" = durable ] && quick=
        "$2/initdb" -D data -U spindle -A trust -E UTF8 --locale=C --no-sync >log 2>&1 &&
        "$2/pg_ctl" -D data -w -t 60 -l log -o "-k $1 -c listen_addresses= -c max_connections=1000 $quick" \
        start >>log 2>&1 || { cat log; sweep "$1"; exit 1; }
        echo ready
        exec >/dev/null 2>&1
        cat >/dev/null
        "$2/pg_ctl" -D data -m immediate stop
        sweep "$1"
        """

    private static func launch(_ binaries: PostgreSQLBinaries, isDurable: Bool) async throws -> PostgreSQLCluster {
        // Not the environment's temporary folder: a socket path has at most 107 bytes.
        let place = isDurable ? "/tmp" : Scratch.inMemory ?? "/tmp"
        var template = Array("\(place)/spindle-pg-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure(description: "no temporary folder") }
        let folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        if let user = binaries.user { chown(folder, user.id, user.group) }

        let input = Pipe()
        // No other child may hold this end open.
        _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        let said = try await run(
            binaries.prefix + [
                "/bin/sh", "-c", script, "sh", folder, binaries.folder, isDurable ? "durable" : "quick",
            ], input: input, until: "ready\n")
        guard said.hasSuffix("ready\n") else { throw Failure(description: "PostgreSQL did not start: \(said)") }
        let host = folder.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? folder
        return PostgreSQLCluster(
            serverURL: "postgresql://spindle@/postgres?host=\(host)", lifeline: input.fileHandleForWriting)
    }

    private func run(_ command: [String]) async throws -> String { try await Self.run(command) }
}

extension PostgreSQLCluster {
    /// Runs `command` and returns its output, up to and including `marker` if that comes before the end.
    private static func run(_ command: [String], input: Pipe? = nil, until marker: String? = nil) async throws -> String
    {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        let output = Pipe()
        process.standardInput = input ?? FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run()
        return try await withCheckedThrowingContinuation { continuation in
            // A separate thread, because the wait must not block the few threads of the tests.
            let thread = Thread {
                var said = ""
                while marker.map({ !said.hasSuffix($0) }) ?? true {
                    let data = output.fileHandleForReading.availableData
                    guard !data.isEmpty else { break }
                    said += String(decoding: data, as: UTF8.self)
                }
                if marker == nil {
                    process.waitUntilExit()
                    guard process.terminationStatus == 0 else {
                        return continuation.resume(throwing: Failure(description: "\(command[0]): \(said)"))
                    }
                }
                continuation.resume(returning: said)
            }
            thread.start()
        }
    }
}
