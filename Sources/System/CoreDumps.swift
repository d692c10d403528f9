import CLinux

/// The core dumps of a process that crashes.
public enum CoreDumps {
    /// Disables them for this process: a core contains memory, and so keys, passwords and tokens.
    public static func forbid() { linux_leave_no_core() }
}
