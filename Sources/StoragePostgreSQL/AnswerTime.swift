import Values

/// How long the server may take to answer one statement, or COMMIT, before the connection is abandoned.
public enum AnswerTime {
    /// For requests. A live server reports after ten seconds that it could not get a lock.
    public static let ofRequests: Duration = .seconds(15)
    /// For steps of the schema: one may rewrite a large table.
    static let ofMigration: Duration = .hours(6)
    /// For lists, exports and commands. A live server ends a statement after thirty seconds.
    public static let ofLongWork: Duration = .seconds(35)
    /// For the settings of a new connection, and for connecting itself.
    static let ofGreeting: Duration = .seconds(10)
    /// For the check of a load balancer, which asks again soon.
    static let ofReadiness: Duration = .seconds(2)
    /// For remaining work when the database is closed.
    static let ofTheLast: Duration = .seconds(5)
    /// As above, when work was abandoned before.
    static let ofTheAbandoned: Duration = .milliseconds(100)
}
