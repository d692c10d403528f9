import Configuration
import Foundation
import JOSE
import Synchronization

/// A configuration file, JSON or YAML by its extension.
struct ConfigurationFile: Sendable {
    let path: String
    let layer: ConfigurationLayer
    /// What it sets, known or not.
    let names: Set<String>

    init(path: String) throws(ConfigurationFaults) {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Self.fault("a file that can be read", path)
        }
        let seen = SeenNames()
        let values: any ConfigSnapshot
        switch URL(filePath: path).pathExtension.lowercased() {
        case "json": values = try Self.json([UInt8](data), seen, path)
        case "yaml", "yml": values = try Self.yaml([UInt8](data), seen, path)
        default: throw Self.fault("a file that ends in .json, .yaml or .yml", path)
        }
        layer = ConfigurationLayer(values: values) { "\($0.rawValue) in \(path)" }
        names = seen.names
        self.path = path
    }

    private static func json(
        _ bytes: [UInt8], _ seen: SeenNames, _ path: String
    ) throws(ConfigurationFaults) -> any ConfigSnapshot {
        do {
            // Foundation, which the snapshot reads with, takes one of two members of the same name in silence.
            _ = try JSON(parsing: bytes)
        } catch {
            throw fault("valid JSON: \(error)", path)
        }
        do {
            return try JSONSnapshot(
                data: bytes.span.bytes, providerName: path,
                parsingOptions: .init(secretsSpecifier: .dynamic { name, _ in seen.isSecret(name) }))
        } catch {
            throw fault("a JSON object of plain values and arrays", path)
        }
    }

    private static func yaml(
        _ bytes: [UInt8], _ seen: SeenNames, _ path: String
    ) throws(ConfigurationFaults) -> any ConfigSnapshot {
        do {
            return try YAMLSnapshot(
                data: bytes.span.bytes, providerName: path,
                parsingOptions: .init(secretsSpecifier: .dynamic { name, _ in seen.isSecret(name) }))
        } catch {
            // The parser's reason quotes the file, and the file may hold the master key.
            throw fault("valid YAML: a mapping of keys to plain values and lists, each key once", path)
        }
    }

    private static func fault(_ expected: String, _ path: String) -> ConfigurationFaults {
        ConfigurationFaults([ConfigurationFault("--config", expected, at: path)])
    }
}

/// Hears of each name while a file is read: a snapshot does not list what it holds, but asks of each whether it is secret.
private final class SeenNames: Sendable {
    private let state = Mutex<Set<String>>([])

    var names: Set<String> { state.withLock { $0 } }

    func isSecret(_ name: String) -> Bool {
        state.withLock { _ = $0.insert(name) }
        return name == ConfigurationKey.masterKey.rawValue
    }
}
