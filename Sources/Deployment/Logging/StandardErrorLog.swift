import Foundation
import JOSE
public import Logging
public import Values

/// Writes each event as one line to the standard error.
public struct StandardErrorLog: LogHandler {
    public var logLevel: Logger.Level
    public var metadata: Logger.Metadata = [:]
    public var metadataProvider: Logger.MetadataProvider?
    private let label: String
    private let format: LogFormat
    private let clock: any WallClock

    public init(label: String, level: Logger.Level, format: LogFormat, clock: any WallClock) {
        self.label = label
        self.logLevel = level
        self.format = format
        self.clock = clock
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        let line = LogLine(
            time: clock.now, level: event.level, label: label, message: event.message.description,
            metadata: allMetadata(of: event))
        let bytes = Array((line.text(in: format) + "\n").utf8)
        // One write a line, so that the lines of several threads and processes do not mix.
        bytes.withUnsafeBytes { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    private func allMetadata(of event: LogEvent) -> Logger.Metadata {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let explicit = event.metadata { all.merge(explicit) { $1 } }
        // The type alone: the text of an error that came from outside may quote what it was about.
        if let error = event.error { all["error"] = "\(String(reflecting: type(of: error)))" }
        return all
    }
}
