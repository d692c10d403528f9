import JSON
import System
import YAML

/// A configuration file, JSON or YAML by its file extension.
struct ConfigurationFile: Sendable {
    let path: String
    let layer: ConfigurationLayer

    init(path: String) throws(ConfigurationFaults) {
        guard let bytes = Files.read(path) else {
            throw Self.fault("a file that can be read", path)
        }
        var settings = FlatSettings()
        let name = path.lowercased()
        if name.hasSuffix(".json") {
            try Self.read(bytes, asJSON: path, into: &settings)
        } else if name.hasSuffix(".yaml") || name.hasSuffix(".yml") {
            try Self.read(bytes, asYAML: path, into: &settings)
        } else {
            throw Self.fault("a file that ends in .json, .yaml or .yml", path)
        }
        layer = ConfigurationLayer(settings: settings.settings) { "\($0.rawValue) in \(path)" }
        self.path = path
    }

    private static func read(
        _ bytes: [UInt8], asJSON path: String, into settings: inout FlatSettings
    ) throws(ConfigurationFaults) {
        let json: JSON
        do {
            json = try JSON(parsing: bytes)
        } catch {
            throw fault("valid JSON: \(error)", path)
        }
        guard let members = json.members, settings.add(members) else {
            throw fault("a JSON object of plain values and arrays", path)
        }
    }

    private static func read(
        _ bytes: [UInt8], asYAML path: String, into settings: inout FlatSettings
    ) throws(ConfigurationFaults) {
        let expected = "valid YAML: a mapping of keys to plain values and lists, each key once"
        let node: YAMLNode
        do {
            node = try YAMLNode(parsing: bytes)
        } catch {
            throw fault(expected, "\(path), \(error)")
        }
        guard case .mapping(let members) = node, settings.add(members) else { throw fault(expected, path) }
    }

    private static func fault(_ expected: String, _ place: String) -> ConfigurationFaults {
        ConfigurationFaults([ConfigurationFault("--config", expected, at: place)])
    }
}
