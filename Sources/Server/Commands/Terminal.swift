import Glibc

/// The two streams that a command writes to.
enum Terminal {
    /// Prints the command's answer to standard output.
    static func print(_ text: String) { LineWriter(descriptor: STDOUT_FILENO).write(text + "\n") }

    /// Prints anything that is not part of the answer to standard error.
    static func tell(_ text: String) { LineWriter(descriptor: STDERR_FILENO).write(text + "\n") }
}
