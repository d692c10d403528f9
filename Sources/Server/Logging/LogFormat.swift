/// How a line of the log looks.
public enum LogFormat: String, Sendable, CaseIterable {
    /// For people.
    case text
    /// One JSON object a line, for machines.
    case json
}
