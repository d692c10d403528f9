import JSON
import System
import Text
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

extension ConfigurationFile {
    /// The settings of a JSON object, known or not. Nil when a list holds anything but plain values of one kind.
    static func settings(_ members: [JSON.Member]) -> [String: ConfigurationLayer.Setting]? {
        var settings: [String: ConfigurationLayer.Setting] = [:]
        for member in members {
            guard let setting = ConfigurationLayer.Setting(member.value) else { return nil }
            settings[member.name] = setting
        }
        return settings
    }

    /// The settings of a YAML mapping, known or not. Nil when a list holds anything but scalars.
    static func settings(_ members: [YAMLNode.Member]) -> [String: ConfigurationLayer.Setting]? {
        var settings: [String: ConfigurationLayer.Setting] = [:]
        for member in members {
            switch member.value {
            case .null: settings[member.key] = .text("")
            case .mapping: settings[member.key] = .other
            case .scalar(let text): settings[member.key] = .text(text)
            case .sequence(let nodes):
                let texts = nodes.compactMap { if case .scalar(let text) = $0 { text } else { nil } }
                guard texts.count == nodes.count else { return nil }
                settings[member.key] = .list(texts)
            }
        }
        return settings
    }
}

extension ConfigurationLayer.Setting {
    /// Reads a JSON value, which may be a number. Nil for a list of anything but plain values.
    fileprivate init?(_ json: JSON) {
        switch json {
        case .string(let text): self = .text(text)
        case .bool(let flag): self = .text(flag ? "true" : "false")
        case .integer, .number: self = json.integer.map { .text(String($0)) } ?? .other
        case .array(let values):
            if let texts = json.strings {
                self = .list(texts)
            } else {
                guard values.allSatisfy(\.isNumberOrFlag) else { return nil }
                self = .other
            }
        case .null: self = .text("")
        case .object: self = .other
        }
    }
}

extension JSON {
    fileprivate var isNumberOrFlag: Bool {
        switch self {
        case .integer, .number, .bool: true
        default: false
        }
    }
}

/// One source of settings: the command line, the environment or a file.
struct ConfigurationLayer: Sendable {
    /// By their names in a configuration file, known or not.
    let settings: [String: Setting]
    /// Where an operator finds a setting of this layer.
    let place: @Sendable (ConfigurationKey) -> String

    /// The value of a setting.
    enum Setting: Sendable, Hashable {
        case text(String)
        case list([String])
        /// A mapping, a number with a fraction, or a list of anything but texts.
        case other
    }

    /// The setting is not of the requested form.
    struct Unreadable: Error {}

    /// The text of `key`; nil when it is missing or empty.
    func text(_ key: ConfigurationKey) throws(Unreadable) -> String? {
        switch settings[key.rawValue] {
        case nil: nil
        case .text(let text): text.isEmpty ? nil : try Self.whole(text)
        case .list, .other: throw Unreadable()
        }
    }

    /// The list of `key`, an array or a text separated by commas; nil when it is missing.
    func list(_ key: ConfigurationKey) throws(Unreadable) -> [String]? {
        if case .list(let list) = settings[key.rawValue] {
            return list == [""] ? nil : try list.map(Self.whole)
        }
        return try text(key)?.split(separator: ",", omittingEmptySubsequences: false).map {
            $0.trimmingScalars(while: \.isBlank)
        }
    }

    /// Refuses text that the system would cut or change: it stops at U+0000, and text that is not UTF-8 arrives with
    /// U+FFFD in it.
    private static func whole(_ text: String) throws(Unreadable) -> String {
        guard !text.unicodeScalars.contains(where: { $0 == "\0" || $0 == "\u{FFFD}" }) else { throw Unreadable() }
        return text
    }
}

extension ConfigurationLayer {
    static func commandLine(_ options: [String: String]) -> ConfigurationLayer {
        ConfigurationLayer(settings: options.mapValues { .text($0) }) { $0.option }
    }

    static func environment(_ variables: [String: String]) -> ConfigurationLayer {
        let settings = ConfigurationKey.allCases.compactMap { key in
            variables[key.environmentVariable].map { (key.rawValue, Setting.text($0)) }
        }
        return ConfigurationLayer(settings: Dictionary(uniqueKeysWithValues: settings)) { $0.environmentVariable }
    }
}
