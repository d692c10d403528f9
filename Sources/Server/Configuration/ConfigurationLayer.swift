import Text

/// One of the places settings come from: the command line, the environment, a file.
struct ConfigurationLayer: Sendable {
    /// By their names in a file, known or not.
    let settings: [String: Setting]
    /// How an operator finds the setting again.
    let place: @Sendable (ConfigurationKey) -> String

    /// What a place says of a setting.
    enum Setting: Sendable, Hashable {
        case text(String)
        case list([String])
        /// Neither text nor a number, nor a list of texts.
        case other
    }

    /// The setting is not of the form that is asked for.
    struct Unreadable: Error {}

    /// What the place says about `key`: nil for nothing, and for an empty text.
    func text(_ key: ConfigurationKey) throws(Unreadable) -> String? {
        switch settings[key.rawValue] {
        case nil: nil
        case .text(let text): text.isEmpty ? nil : text
        case .list, .other: throw Unreadable()
        }
    }

    /// A list, as an array or separated by commas; nil for nothing.
    func list(_ key: ConfigurationKey) throws(Unreadable) -> [String]? {
        if case .list(let list) = settings[key.rawValue] { return list == [""] ? nil : list }
        return try text(key)?.split(separator: ",", omittingEmptySubsequences: false).map {
            $0.trimmingScalars(while: \.isBlank)
        }
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
