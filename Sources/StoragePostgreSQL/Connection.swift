import CPostgreSQL
import Storage

/// A connection in pipeline mode: several commands go out in one packet, and their results come back in one.
@safe final class Connection {
    private static let mostStatements = 256
    // Acknowledged work must be on disk; remote_apply promises even more. A stuck client must not keep its locks.
    private static let settings = """
        SELECT set_config('synchronous_commit', 'on', false)
            WHERE current_setting('synchronous_commit') <> 'remote_apply';
        SET statement_timeout = '30s';
        SET lock_timeout = '10s';
        SET idle_in_transaction_session_timeout = '30s';
        """

    private let handle: OpaquePointer
    private let lines: Lines
    private let line: Line
    /// How long the server may take to answer a statement of the present transaction.
    var answerTime = AnswerTime.ofRequests
    /// The names of prepared statements by their text.
    private var statements: [String: String] = [:]
    private var statementCount = 0
    /// Posted commands whose results are not read yet.
    private var unread = 0

    init(to address: ServerAddress, _ lines: Lines) throws(Failure) {
        let parameters = address.parameters
        let handle = unsafe CStrings(parameters.map(\.key) + [nil]).withPointers { keywords in
            unsafe CStrings(parameters.map(\.value) + [nil]).withPointers { unsafe PQconnectdbParams(keywords, $0, 1) }
        }
        guard let handle = unsafe handle else { throw Failure(remedy: .none, error: .unavailable("out of memory")) }
        unsafe self.handle = handle
        self.lines = lines
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

    /// Whether the server took too long, and the connection was given up for that.
    var fellSilent: Bool { line.isCut }

    /// Runs `sql`, after `opening` in the same round trip.
    func run(_ sql: SQL, after opening: String?) throws(Failure) -> Answer {
        try waiting { () throws(Failure) in try answer(to: sql, after: opening) }
    }

    /// Commits, and returns when the server has acknowledged it.
    func commit() throws(Failure) {
        try waiting { () throws(Failure) in
            try send("COMMIT")
            guard try lastAnswer().tag == "COMMIT" else {
                throw Failure(remedy: .none, error: .unreadable("COMMIT did not commit"))
            }
        }
    }

    /// Sends a command that cannot fail on a live connection. Its result is read before the next command's.
    func post(_ command: String) throws(Failure) {
        try waiting { () throws(Failure) in try sendOnly(command) }
    }

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

    private func answer(to sql: SQL, after opening: String?) throws(Failure) -> Answer {
        let bindings = sql.bindings
        let text = sql.text
        let values = try CStrings(bindings)
        // A statement without values is a schema step or similar, and rarely runs twice.
        guard !bindings.isEmpty else {
            if let opening { try send(opening) }
            try send(text)
            return try lastAnswer()
        }
        if let name = statements[text] {
            if let opening { try send(opening) }
            try execute(name, values, count: bindings.count)
            return try lastAnswer()
        }
        if statements.count == Self.mostStatements {
            try sendOnly("DEALLOCATE ALL")
            statements.removeAll(keepingCapacity: true)
        }
        statementCount += 1
        let name = "s\(statementCount)"
        if let opening { try send(opening) }
        try unsafe sent(PQsendPrepare(handle, name, text, 0, nil))
        try execute(name, values, count: bindings.count)
        let answers = try answers()
        // The statement stays prepared even if running it failed.
        if answers.dropLast().allSatisfy(\.succeeded) { statements[text] = name }
        return try Self.last(of: answers)
    }

    private func sendOnly(_ command: String) throws(Failure) {
        try send(command)
        try unsafe sent(PQpipelineSync(handle))
        unread += 1
    }

    private func send(_ text: String) throws(Failure) {
        try unsafe sent(PQsendQueryParams(handle, text, 0, nil, nil, nil, nil, 0))
    }

    private func execute(_ name: String, _ values: CStrings, count: Int) throws(Failure) {
        try unsafe sent(
            values.withPointers { unsafe PQsendQueryPrepared(handle, name, Int32(count), $0, nil, nil, 0) })
    }

    private func sent(_ success: Int32) throws(Failure) {
        guard success == 1 else { throw .lost }
    }

    private func lastAnswer() throws(Failure) -> Answer { try Self.last(of: try answers()) }

    /// Flushes what was sent and reads the results, after those of posted commands.
    private func answers() throws(Failure) -> [Answer] {
        try unsafe sent(PQpipelineSync(handle))
        while unread > 0 {
            guard try answersUpToSync().allSatisfy(\.succeeded) else { throw .lost }
            unread -= 1
        }
        return try answersUpToSync()
    }

    private func answersUpToSync() throws(Failure) -> [Answer] {
        var answers: [Answer] = []
        var isSilent = false
        while true {
            guard let result = unsafe PQgetResult(handle) else {
                // One nil ends a command's results; two in a row mean that nothing more will come.
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

    /// The result of the last command, unless one of them failed.
    private static func last(of answers: [Answer]) throws(Failure) -> Answer {
        for answer in answers { if let failure = answer.failure { throw failure } }
        guard let last = answers.last else { throw .lost }
        return last
    }
}
