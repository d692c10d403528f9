import Configuration
import Foundation

/// One of the places settings come from: the command line, the environment, a file.
///
/// They are asked one by one, not through a `ConfigReader`: its optional getters answer a value of the wrong type with
/// the default, in silence.
struct ConfigurationLayer: Sendable {
    let values: any ConfigSnapshot
    /// How an operator finds the setting again.
    let place: @Sendable (ConfigurationKey) -> String

    /// The setting is neither text nor a number, nor a list where one is asked for.
    struct Unreadable: Error {}

    /// What the place says about `key`: nil for nothing, and for an empty text.
    func text(_ key: ConfigurationKey) throws(Unreadable) -> String? {
        do {
            guard case .string(let text)? = try content(key, .string) else { return nil }
            return text.isEmpty ? nil : text
        } catch {
            // A JSON file may write a number as a number.
            guard case .int(let number)? = try? content(key, .int) else { throw Unreadable() }
            return String(number)
        }
    }

    /// A list, as an array or separated by commas; nil for nothing.
    func list(_ key: ConfigurationKey) throws(Unreadable) -> [String]? {
        if case .stringArray(let list)? = try? content(key, .stringArray) { return list == [""] ? nil : list }
        return try text(key)?.split(separator: ",", omittingEmptySubsequences: false).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
    }

    private func content(_ key: ConfigurationKey, _ type: ConfigType) throws -> ConfigContent? {
        try values.value(forKey: AbsoluteConfigKey([key.rawValue]), type: type).value?.content
    }
}

extension ConfigurationLayer {
    static func commandLine(_ options: [ConfigurationKey: String]) -> ConfigurationLayer {
        let values = options.map { (AbsoluteConfigKey([$0.rawValue]), ConfigValue(.string($1), isSecret: false)) }
        let provider = InMemoryProvider(name: "command line", values: Dictionary(uniqueKeysWithValues: values))
        return ConfigurationLayer(values: provider.snapshot()) { $0.option }
    }

    static func environment(_ variables: [String: String]) -> ConfigurationLayer {
        let provider = EnvironmentVariablesProvider(
            environmentVariables: variables,
            secretsSpecifier: .specific([ConfigurationKey.masterKey.environmentVariable])
        ).prefixKeys(with: "spindle")
        return ConfigurationLayer(values: provider.snapshot()) { $0.environmentVariable }
    }
}
