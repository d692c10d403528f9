/// The format of a log line.
public enum LogFormat: String, Sendable, CaseIterable {
    /// Lines to read.
    case text
    /// One JSON object a line, for machines.
    case json
}
