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

/// The core dumps of a process that crashes.
public enum CoreDumps {
    /// Disables them for this process: a core contains memory, and so keys, passwords and tokens.
    public static func forbid() { linux_leave_no_core() }
}

/// How many files, sockets included, this process may have open.
public enum OpenFiles {
    /// Raises the limit as far as the system lets this process, and returns it. Shells and containers often begin with
    /// 1024 although more are allowed.
    public static func raiseLimit() -> Int64 {
        let limit = linux_raise_open_files()
        return limit > 0 ? limit : .max
    }
}
