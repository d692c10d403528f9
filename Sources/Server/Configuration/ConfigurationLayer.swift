import Text

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
