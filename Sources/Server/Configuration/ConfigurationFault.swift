/// One faulty setting. It never quotes the value, which may be a secret in the wrong place.
public struct ConfigurationFault: Sendable, Hashable, CustomStringConvertible {
    public let key: String
    /// What was expected, as the end of the sentence "must be …".
    public let expected: String
    /// Where the setting was given; nil when it was not.
    public let place: String?

    public init(_ key: String, _ expected: String, at place: String? = nil) {
        self.key = key
        self.expected = expected
        self.place = place
    }

    public var description: String { "\(key): must be \(expected)" + (place.map { " (\($0))" } ?? "") }
}

/// Everything that is wrong with a configuration, reported at once.
public struct ConfigurationFaults: Error, Sendable, CustomStringConvertible {
    public let faults: [ConfigurationFault]

    public init(_ faults: [ConfigurationFault]) { self.faults = faults }

    public var description: String { faults.map(\.description).joined(separator: "\n") }
}

/// Settings that are refused: unknown ones, because a typing error must not silently give a default, and one that makes
/// a server unsafe.
enum RefusedSettings {
    private static let expected = "left out: there is no such setting"

    static func faults(inEnvironment environment: [String: String]) -> [ConfigurationFault] {
        let known = Set(ConfigurationKey.allCases.map(\.environmentVariable))
        return environment.sorted { $0.key < $1.key }
            .filter { name, value in
                name.hasPrefix(ConfigurationKey.environmentPrefix) && !known.contains(name)
                    && !isElsewheres(name, value)
            }
            .map { ConfigurationFault($0.key, expected, at: "the environment") }
    }

    /// Swift's own variable that makes its hashes predictable. With it, attackers could choose names that all fall into
    /// one bucket of a hash table, which makes each lookup slower than the last.
    static func unsafeFaults(inEnvironment environment: [String: String]) -> [ConfigurationFault] {
        let name = "SWIFT_DETERMINISTIC_HASHING"
        guard environment[name] != nil else { return [] }
        return [ConfigurationFault(name, "left out: attackers could choose names that collide", at: "the environment")]
    }

    static func faults(in file: ConfigurationFile) -> [ConfigurationFault] {
        Set(file.layer.settings.keys).subtracting(ConfigurationKey.allCases.map(\.rawValue)).sorted()
            .map { ConfigurationFault($0, expected, at: file.path) }
    }

    /// The tests use the same prefix for the binary and for their own switches. Kubernetes sets variables for each
    /// service: for a service named `spindle`, `SPINDLE_PORT` is `tcp://10.0.0.1:8080`.
    private static func isElsewheres(_ name: String, _ value: String) -> Bool {
        if name == "SPINDLE_BINARY" || name.hasPrefix("SPINDLE_TEST_") { return true }
        if name.hasSuffix("_SERVICE_HOST") || name.contains("_SERVICE_PORT") { return true }
        let isOfPort = name.hasSuffix("_PORT") && value.contains("://")
        return isOfPort || name.firstMatch(of: /_PORT_[0-9]+_(TCP|UDP|SCTP)(_|$)/) != nil
    }
}
