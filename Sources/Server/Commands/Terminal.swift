import Glibc
import JSON

/// The two streams that a command writes to.
enum Terminal {
    /// Prints the command's answer to standard output. Where it cannot be written, the command has done its work but
    /// fails: it may have been a secret that is shown once.
    static func print(_ text: String) {
        guard !LineWriter(descriptor: STDOUT_FILENO).write(text + "\n") else { return }
        CommandFailure(
            "done, but the answer cannot be written: \(String(cString: strerror(errno))). A secret in it is lost: "
                + "spindle client add-secret makes another", .notWritten
        ).end()
    }

    /// Prints the command's answer as JSON that cannot control the terminal.
    static func print(json document: JSON) { print(document.printableText) }

    /// Prints anything that is not part of the answer to standard error.
    static func tell(_ text: String) { LineWriter(descriptor: STDERR_FILENO).write(text + "\n") }
}
