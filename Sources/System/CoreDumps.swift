import CLinux

/// What the system writes of a process that crashes.
public enum CoreDumps {
    /// Ends them for this process: a core shows memory, that is keys, passwords and tokens.
    public static func forbid() { linux_leave_no_core() }
}
