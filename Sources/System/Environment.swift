import CLinux

/// The environment that the process was started with.
public enum Environment {
    /// Every variable with its value. If a name is there twice, the first counts, as for `getenv`.
    public static var variables: [String: String] {
        var variables: [String: String] = [:]
        var next = unsafe linux_environment()
        while let entry = unsafe next?.pointee {
            let parts = unsafe String(cString: entry).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, variables[String(parts[0])] == nil { variables[String(parts[0])] = String(parts[1]) }
            unsafe next = next?.successor()
        }
        return variables
    }

    /// Removes SSLKEYLOGFILE, which would make libcurl write the keys of its TLS connections to a file. Call it before
    /// there are threads, which may be reading the environment.
    public static func forbidKeyLog() { unsafe linux_forget_variable("SSLKEYLOGFILE") }
}
