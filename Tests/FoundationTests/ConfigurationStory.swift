import Foundation
import Testing

@testable import Server

/// A test suite that reads settings.
protocol ConfigurationStory {}

extension ConfigurationStory {
    var inlineKey: String { Data(repeating: 7, count: 32).base64EncodedString() }

    func read(
        _ commandLine: [String: String] = [:], _ environment: [String: String] = [:], file: String? = nil
    ) throws -> SpindleConfiguration {
        try SpindleConfiguration.read(commandLine: commandLine, environment: environment, file: file)
    }

    func faults(
        _ commandLine: [String: String] = [:], _ environment: [String: String] = [:], file: String? = nil
    ) -> [ConfigurationFault] {
        do {
            _ = try read(commandLine, environment, file: file)
            return []
        } catch let faults as ConfigurationFaults {
            return faults.faults
        } catch {
            Issue.record(error)
            return []
        }
    }

    /// The path of a file with `text`, in its own folder.
    func file(_ name: String, _ text: String) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "spindle-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: name)
        try Data(text.utf8).write(to: file)
        return file.path(percentEncoded: false)
    }
}
