import CPostgreSQL
import Storage

/// A connection in pipeline mode: several commands go out in one packet, and their results come back in one.
@safe final class Connection {
    // Acknowledged work must be on disk; remote_apply promises even more. A stuck client must not keep its locks.
    // Generic plans are off, because a statement that was prepared while its table was small would go on reading all of
    // a large one. JIT is off, because statements that do read a whole table are not worth compiling, whatever their
    // planned cost.
    private static let settings = """
        SELECT set_config('synchronous_commit', 'on', false)
            WHERE current_setting('synchronous_commit') <> 'remote_apply';
        SET statement_timeout = '30s';
        SET lock_timeout = '10s';
        SET idle_in_transaction_session_timeout = '30s';
        SET enable_seqscan = off;
        SET jit = off;
        """

    private let handle: OpaquePointer
    private let lines: Lines
    private let line: Line
    private let doubt: WriteDoubt
    /// How long the server may take to answer a statement of the current transaction.
    var answerTime = AnswerTime.ofRequests
    private var prepared = PreparedStatements()
    /// Posted commands whose results are not read yet.
    private var unread = 0

    init(to address: ServerAddress, _ lines: Lines, _ doubt: WriteDoubt) throws(Failure) {
        let parameters = address.parameters
        let handle = unsafe CStrings(parameters.map(\.key) + [nil]).withPointers { keywords in
            unsafe CStrings(parameters.map(\.value) + [nil]).withPointers { unsafe PQconnectdbParams(keywords, $0, 1) }
        }
        guard let handle = unsafe handle else { throw Failure(remedy: .none, error: .unavailable("out of memory")) }
        unsafe self.handle = handle
        self.lines = lines
        self.doubt = doubt
        line = unsafe lines.add(PQsocket(handle))
        // The default prints notices to standard error.
        unsafe PQsetNoticeProcessor(handle, { _, _ in }, nil)
        guard unsafe PQstatus(handle) == CONNECTION_OK, try configured(), unsafe PQenterPipelineMode(handle) == 1
        else {
            // One line for each server tried; the indented ones are advice.
            let lines = unsafe String(cString: PQerrorMessage(handle)).split(separator: "\n")
            let reason = lines.filter { !$0.hasPrefix("\t") }.joined(separator: "; ")
            throw Failure(remedy: .none, error: .unavailable("no connection to PostgreSQL: \(reason)"))
        }
        let encoding = unsafe PQparameterStatus(handle, "server_encoding").map { unsafe String(cString: $0) }
        if let encoding, encoding != "UTF8" { throw Failure(remedy: .none, error: .encoded(as: encoding)) }
    }

    deinit {
        lines.remove(line)
        unsafe PQfinish(handle)
    }

    /// Whether the connection was abandoned because the server took too long.
    var fellSilent: Bool { line.isCut }

    func hasPrepared(_ sql: SQL) -> Bool { prepared.name(of: sql) != nil }

    /// Runs `statements` in one round trip. Returns the answer to the last, or throws the first failure.
    func run(_ statements: [SQL]) throws(Failure) -> Answer {
        guard let last = try runAll(statements).last else { throw .lost }
        return last
    }

    /// The same, with the answer to each.
    func runAll(_ statements: [SQL]) throws(Failure) -> [Answer] {
        try waiting { () throws(Failure) in
            if prepared.isFull(for: statements.count { prepared.name(of: $0) == nil }) {
                try sendText("DEALLOCATE ALL")
                try sync()
                prepared.forget()
            }
            var commands: [Command] = []
            for sql in statements { try send(sql, &commands) }
            return try check(try answers(), to: commands)
        }
    }

    /// Sends a command that cannot fail on a live connection. Its result is read before the next command's.
    func post(_ command: SQL) throws(Failure) {
        try waiting { () throws(Failure) in
            if let name = prepared.name(of: command) {
                try execute(name, CStrings([SQLValue]()))
            } else {
                try sendText(command.text)
            }
            try sync()
        }
    }

    /// Whether reads that begin with `sql` have had further statements.
    func leadsOn(_ sql: SQL) -> Bool { prepared.leadsOn(sql) }
    func noteLeadsOn(_ sql: SQL) { prepared.noteLeadsOn(sql) }

    private func configured() throws(Failure) -> Bool {
        try line.wait(atMost: AnswerTime.ofGreeting) {
            guard let result = unsafe PQexec(handle, Self.settings) else { return false }
            return unsafe Answer(result).succeeded
        }
    }

    private func waiting<Value>(_ ask: () throws(Failure) -> Value) throws(Failure) -> Value {
        do {
            return try line.wait(atMost: answerTime, ask)
        } catch {
            throw line.isCut ? .silent : error
        }
    }

    /// What one result belongs to.
    private enum Command {
        case prepare(SQL, as: String)
        case execute
    }

    private func send(_ sql: SQL, _ commands: inout [Command]) throws(Failure) {
        // First, because it may throw: nothing of this statement has been sent then.
        let values = try CStrings(sql.bindings)
        if sql.shape == .ofRunTimeText {
            // A step of the schema or similar, which runs once.
            try unsafe sent(
                values.withPointers {
                    unsafe PQsendQueryParams(handle, sql.text, values.count, nil, $0, nil, nil, 0)
                })
        } else if let name = prepared.name(of: sql) {
            try execute(name, values)
        } else {
            let name = prepared.newName()
            try unsafe sent(PQsendPrepare(handle, name, sql.text, 0, nil))
            try execute(name, values)
            commands.append(.prepare(sql, as: name))
        }
        commands.append(.execute)
    }

    private func sendText(_ text: String) throws(Failure) {
        try unsafe sent(PQsendQueryParams(handle, text, 0, nil, nil, nil, nil, 0))
    }

    private func execute(_ name: String, _ values: CStrings) throws(Failure) {
        try unsafe sent(
            values.withPointers { unsafe PQsendQueryPrepared(handle, name, values.count, $0, nil, nil, 0) })
    }

    /// Ends a packet whose results are read later.
    private func sync() throws(Failure) {
        try unsafe sent(PQpipelineSync(handle))
        unread += 1
    }

    private func sent(_ success: Int32) throws(Failure) {
        guard success == 1 else { throw .lost }
    }

    /// Flushes what was sent and reads the results, after those of posted commands.
    private func answers() throws(Failure) -> [Answer] {
        try unsafe sent(PQpipelineSync(handle))
        try readPosted()
        return try answersUpToSync()
    }

    private func readPosted() throws(Failure) {
        while unread > 0 {
            guard try answersUpToSync().allSatisfy(\.succeeded) else { throw .lost }
            unread -= 1
        }
    }

    private func answersUpToSync() throws(Failure) -> [Answer] {
        var answers: [Answer] = []
        var isSilent = false
        while true {
            guard let result = unsafe PQgetResult(handle) else {
                // One nil ends a command's results; two in a row mean that no more will arrive.
                guard !isSilent else { throw .lost }
                isSilent = true
                continue
            }
            isSilent = false
            let answer = unsafe Answer(result)
            guard answer.status != PGRES_PIPELINE_SYNC else { return answers }
            answers.append(answer)
        }
    }

    /// The answers to the statements among `commands`, unless one of them failed.
    private func check(_ answers: [Answer], to commands: [Command]) throws(Failure) -> [Answer] {
        var executed: [Answer] = []
        for (answer, command) in zip(answers, commands) {
            if let failure = answer.failure {
                if failure.isOfDisk { doubt.raise() }
                throw failure
            }
            // It stays prepared even if running it fails.
            if case .prepare(let sql, let name) = command {
                prepared.add(sql, as: name)
            } else {
                executed.append(answer)
            }
        }
        guard answers.count == commands.count else { throw .lost }
        return executed
    }
}
