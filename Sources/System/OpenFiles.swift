import CLinux

/// How many files, sockets included, this process may have open.
public enum OpenFiles {
    /// Raises the limit as far as the system lets this process, and returns it. Shells and containers often begin with
    /// 1024 although more are allowed.
    public static func raiseLimit() -> Int64 {
        let limit = linux_raise_open_files()
        return limit > 0 ? limit : .max
    }
}
