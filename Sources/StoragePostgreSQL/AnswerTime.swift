import Values

/// How long the server may take to answer one statement, or COMMIT, before the connection is given up.
public enum AnswerTime {
    /// Where a person or an app waits. A server that lives says after ten seconds that a lock was not to be had.
    public static let ofRequests: Duration = .seconds(15)
    /// For steps of the schema: one may rewrite a large table.
    static let ofMigration: Duration = .hours(6)
    /// For lists, exports and commands. A server that lives ends a statement after thirty seconds.
    public static let ofLongWork: Duration = .seconds(35)
    /// For the settings of a new connection, like connecting itself.
    static let ofGreeting: Duration = .seconds(10)
    /// For the question of a load balancer, which asks again soon.
    static let ofReadiness: Duration = .seconds(2)
    /// For work that nobody waits for any more, when the database is closed.
    static let ofTheLast: Duration = .seconds(5)
    /// The same, when work was abandoned before.
    static let ofTheAbandoned: Duration = .milliseconds(100)
}
