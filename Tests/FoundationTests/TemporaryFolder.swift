import Foundation

/// A folder for one test, removed with this object.
final class TemporaryFolder: Sendable {
    private let url = FileManager.default.temporaryDirectory.appending(path: "spindle-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }

    var path: String { url.path(percentEncoded: false) }
    func path(_ name: String) -> String { url.appending(path: name).path(percentEncoded: false) }
}
