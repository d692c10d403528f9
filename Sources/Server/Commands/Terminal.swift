import Glibc
import JSON

/// The two streams that a command writes to.
enum Terminal {
    /// Opens standard streams that were closed when the process started, before other files get their numbers:
    /// otherwise an answer or the log would be written into a connection. Printing an answer then fails, as it would
    /// have.
    static func fillClosedStreams() {
        for (stream, mode) in [(STDIN_FILENO, O_RDONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY)]
        where fcntl(stream, F_GETFD) == -1 {
            _ = open("/dev/null", mode)
        }
    }

    /// Prints the command's answer to standard output. If it cannot be written, the command has done its work but
    /// fails. `loss` says what to do about a secret in it, which is shown only once.
    static func print(_ text: String, loss: String? = nil) {
        guard !LineWriter(descriptor: STDOUT_FILENO).write(text + "\n") else { return }
        let reason = String(cString: strerror(errno))
        CommandFailure(
            "done, but the output cannot be written: \(reason)" + (loss.map { ". \($0)" } ?? ""), .notWritten
        ).end()
    }

    /// Prints the command's answer as JSON that cannot control the terminal.
    static func print(json document: JSON, loss: String? = nil) { print(document.printableText, loss: loss) }

    /// Prints anything that is not part of the answer to standard error.
    static func tell(_ text: String) { LineWriter(descriptor: STDERR_FILENO).write(text + "\n") }
}
