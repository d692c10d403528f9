/// Settings that are none: a typing error must not pass for a default.
enum UnknownSettings {
    private static let expected = "left out: there is no such setting"

    static func faults(inEnvironment environment: [String: String]) -> [ConfigurationFault] {
        let known = Set(ConfigurationKey.allCases.map(\.environmentVariable))
        return environment.keys.sorted()
            .filter { $0.hasPrefix(ConfigurationKey.environmentPrefix) && !known.contains($0) && !isElsewheres($0) }
            .map { ConfigurationFault($0, expected, at: "the environment") }
    }

    static func faults(in file: ConfigurationFile) -> [ConfigurationFault] {
        Set(file.layer.settings.keys).subtracting(ConfigurationKey.allCases.map(\.rawValue)).sorted()
            .map { ConfigurationFault($0, expected, at: file.path) }
    }

    /// The tests name the binary, and their own switches, by the same prefix.
    private static func isElsewheres(_ name: String) -> Bool {
        name == "SPINDLE_BINARY" || name.hasPrefix("SPINDLE_TEST_")
    }
}
