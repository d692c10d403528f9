/// Settings that are refused: unknown ones, because a typing error must not pass for a default, and one that no server
/// may run with.
enum RefusedSettings {
    private static let expected = "left out: there is no such setting"

    static func faults(inEnvironment environment: [String: String]) -> [ConfigurationFault] {
        let known = Set(ConfigurationKey.allCases.map(\.environmentVariable))
        return environment.keys.sorted()
            .filter { $0.hasPrefix(ConfigurationKey.environmentPrefix) && !known.contains($0) && !isElsewheres($0) }
            .map { ConfigurationFault($0, expected, at: "the environment") }
    }

    /// Swift's own variable that makes its hashes predictable. With it, others could choose names that all fall into
    /// one bucket of a hash table, where each costs as much as all before it.
    static func unsafeFaults(inEnvironment environment: [String: String]) -> [ConfigurationFault] {
        let name = "SWIFT_DETERMINISTIC_HASHING"
        guard environment[name] != nil else { return [] }
        return [ConfigurationFault(name, "left out: strangers could choose what collides", at: "the environment")]
    }

    static func faults(in file: ConfigurationFile) -> [ConfigurationFault] {
        Set(file.layer.settings.keys).subtracting(ConfigurationKey.allCases.map(\.rawValue)).sorted()
            .map { ConfigurationFault($0, expected, at: file.path) }
    }

    /// The tests use the same prefix for the binary and for their own switches.
    private static func isElsewheres(_ name: String) -> Bool {
        name == "SPINDLE_BINARY" || name.hasPrefix("SPINDLE_TEST_")
    }
}
