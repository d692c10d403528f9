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
        let settings: [String: ConfigurationLayer.Setting]
        let name = path.lowercased()
        if name.hasSuffix(".json") {
            settings = try Self.read(bytes, asJSON: path)
        } else if name.hasSuffix(".yaml") || name.hasSuffix(".yml") {
            settings = try Self.read(bytes, asYAML: path)
        } else {
            throw Self.fault("a file that ends in .json, .yaml or .yml", path)
        }
        layer = ConfigurationLayer(settings: settings) { "\($0.rawValue) in \(path)" }
        self.path = path
    }

    private static func read(
        _ bytes: [UInt8], asJSON path: String
    ) throws(ConfigurationFaults) -> [String: ConfigurationLayer.Setting] {
        let json: JSON
        do {
            json = try JSON(parsing: bytes)
        } catch {
            throw fault("valid JSON: \(error)", path)
        }
        guard let settings = json.members.flatMap(Self.settings) else {
            throw fault("a JSON object of plain values and arrays", path)
        }
        return settings
    }

    private static func read(
        _ bytes: [UInt8], asYAML path: String
    ) throws(ConfigurationFaults) -> [String: ConfigurationLayer.Setting] {
        let expected = "valid YAML: a mapping of keys to plain values and lists, each key once"
        let node: YAMLNode
        do {
            node = try YAMLNode(parsing: bytes)
        } catch {
            throw fault(expected, "\(path), \(error)")
        }
        guard case .mapping(let members) = node, let settings = Self.settings(members) else {
            throw fault(expected, path)
        }
        return settings
    }

    private static func fault(_ expected: String, _ place: String) -> ConfigurationFaults {
        ConfigurationFaults([ConfigurationFault("--config", expected, at: place)])
    }
}
