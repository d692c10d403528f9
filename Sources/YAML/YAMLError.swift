/// Why a text is not acceptable YAML. It quotes nothing of the text, which may contain secrets.
public struct YAMLError: Error, Sendable, Hashable, CustomStringConvertible {
    /// From 1.
    public let line: Int
    /// A sentence without capital and full stop.
    public let problem: String

    init(_ problem: String, line: Int) {
        self.line = line
        self.problem = problem
    }

    public var description: String { "line \(line): \(problem)" }
}
