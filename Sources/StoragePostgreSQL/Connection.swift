import CPostgreSQL
import Storage

/// A connection in pipeline mode: several commands go out in one packet and their answers come back in one.
final class Connection {
    private static let mostStatements = 256
    // What is acknowledged must be on disk; remote_apply promises still more. Nobody's lock outlives a stuck client.
    private static let settings = """
        SELECT set_config('synchronous_commit', 'on', false)
            WHERE current_setting('synchronous_commit') <> 'remote_apply';
        SET statement_timeout = '30s';
        SET lock_timeout = '10s';
        SET idle_in_transaction_session_timeout = '30s';
        """

    private let handle: OpaquePointer
    /// The names of prepared statements by their text.
    private var statements: [String: String] = [:]
    private var statementCount = 0
    /// Posted commands whose answers nobody has read yet.
    private var unread = 0

    init(to address: ServerAddress) throws(Failure) {
        let parameters = address.parameters
        let handle = CStrings(parameters.map(\.key) + [nil]).withPointers { keywords in
            CStrings(parameters.map(\.value) + [nil]).withPointers { PQconnectdbParams(keywords, $0, 1) }
        }
        guard let handle else { throw Failure(remedy: .none, error: .unavailable("out of memory")) }
        self.handle = handle
        // The default prints them to standard error.
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
        guard PQstatus(handle) == CONNECTION_OK, let result = PQexec(handle, Self.settings),
            Answer(result).succeeded, PQenterPipelineMode(handle) == 1
        else {
            // One line for each server tried; the indented ones are advice.
            let lines = String(cString: PQerrorMessage(handle)).split(separator: "\n")
            let reason = lines.filter { !$0.hasPrefix("\t") }.joined(separator: "; ")
            throw Failure(remedy: .none, error: .unavailable("no connection to PostgreSQL: \(reason)"))
        }
    }

    deinit { PQfinish(handle) }

    /// Runs `sql`, preceded by `opening` in the same round trip.
    func run(_ sql: SQL, after opening: String?) throws(Failure) -> Answer {
        let values = try Self.values(of: sql)
        // What binds nothing is a schema step or the like, seldom run twice.
        guard !sql.bindings.isEmpty else {
            if let opening { try send(opening) }
            try send(sql.text)
            return try lastAnswer()
        }
        if let name = statements[sql.text] {
            if let opening { try send(opening) }
            try execute(name, values, count: sql.bindings.count)
            return try lastAnswer()
        }
        if statements.count == Self.mostStatements {
            try post("DEALLOCATE ALL")
            statements.removeAll(keepingCapacity: true)
        }
        statementCount += 1
        let name = "s\(statementCount)"
        if let opening { try send(opening) }
        try sent(PQsendPrepare(handle, name, sql.text, 0, nil))
        try execute(name, values, count: sql.bindings.count)
        let answers = try answers()
        // The statement stays prepared even where running it failed.
        if answers.dropLast().allSatisfy(\.succeeded) { statements[sql.text] = name }
        return try Self.last(of: answers)
    }

    /// Commits, and returns when the server has acknowledged it.
    func commit() throws(Failure) {
        try send("COMMIT")
        guard try lastAnswer().tag == "COMMIT" else {
            throw Failure(remedy: .none, error: .unreadable("COMMIT did not commit"))
        }
    }

    /// Sends a command that cannot fail on a living connection; its answer is read before the next one's.
    func post(_ command: String) throws(Failure) {
        try send(command)
        try sent(PQpipelineSync(handle))
        unread += 1
    }

    private func send(_ text: String) throws(Failure) {
        try sent(PQsendQueryParams(handle, text, 0, nil, nil, nil, nil, 0))
    }

    private func execute(_ name: String, _ values: CStrings, count: Int) throws(Failure) {
        try sent(values.withPointers { PQsendQueryPrepared(handle, name, Int32(count), $0, nil, nil, 0) })
    }

    private func sent(_ success: Int32) throws(Failure) {
        guard success == 1 else { throw .lost }
    }

    private func lastAnswer() throws(Failure) -> Answer { try Self.last(of: try answers()) }

    /// Flushes what was sent and reads its answers, after those of posted commands.
    private func answers() throws(Failure) -> [Answer] {
        try sent(PQpipelineSync(handle))
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
            guard let result = PQgetResult(handle) else {
                // One nil ends a command's results; two in a row mean that nothing more will come.
                guard !isSilent else { throw .lost }
                isSilent = true
                continue
            }
            isSilent = false
            let answer = Answer(result)
            guard answer.status != PGRES_PIPELINE_SYNC else { return answers }
            answers.append(answer)
        }
    }

    /// The answer to the last command, unless one of them failed.
    private static func last(of answers: [Answer]) throws(Failure) -> Answer {
        for answer in answers { if let failure = answer.failure { throw failure } }
        guard let last = answers.last else { throw .lost }
        return last
    }

    private static func values(of sql: SQL) throws(Failure) -> CStrings {
        var texts: [String?] = []
        texts.reserveCapacity(sql.bindings.count)
        for binding in sql.bindings {
            switch binding {
            case .null: texts.append(nil)
            case .integer(let number): texts.append(String(number))
            case .text(let text):
                guard !text.utf8.contains(0) else {
                    throw Failure(remedy: .none, error: .constraint("a text holds U+0000"))
                }
                texts.append(text)
            }
        }
        return CStrings(texts)
    }
}
