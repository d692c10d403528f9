import JSON
import YAML

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
