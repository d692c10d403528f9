import JSON
import YAML

/// The settings of a file, with nested ones named by a dot, as in `log.level`.
struct FlatSettings {
    typealias Setting = ConfigurationLayer.Setting

    private(set) var settings: [String: Setting] = [:]

    /// Adds the members of a JSON object; false when a list holds anything but plain values of one kind.
    mutating func add(_ members: [JSON.Member], under prefix: String = "") -> Bool {
        members.allSatisfy { member in
            let name = prefix + member.name
            if let inner = member.value.members { return add(inner, under: name + ".") }
            if member.value == .null { return true }
            guard let setting = Setting(member.value) else { return false }
            settings[name] = setting
            return true
        }
    }

    /// Adds the members of a YAML mapping; false when a list holds anything but scalars.
    mutating func add(_ members: [YAMLNode.Member], under prefix: String = "") -> Bool {
        members.allSatisfy { member in
            let name = prefix + member.key
            switch member.value {
            case .null: break
            case .mapping(let inner): return add(inner, under: name + ".")
            case .scalar(let text): settings[name] = .text(text)
            case .sequence(let nodes):
                let texts = nodes.compactMap { if case .scalar(let text) = $0 { text } else { nil } }
                guard texts.count == nodes.count else { return false }
                settings[name] = .list(texts)
            }
            return true
        }
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
        case .null, .object: return nil
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
