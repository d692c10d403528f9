/// A template or a translation that cannot be used. It stops the start, and names the file and the key.
public struct TemplateFault: Error, CustomStringConvertible {
    public let file: String
    public let key: String?
    public let problem: String

    init(file: String, key: String? = nil, _ problem: String) {
        self.file = file
        self.key = key
        self.problem = problem
    }

    public var description: String { "\(file)\(key.map { ", \($0)" } ?? ""): \(problem)" }
}
