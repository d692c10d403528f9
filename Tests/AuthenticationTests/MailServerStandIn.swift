import Synchronization
import TestSupport

/// A mail server that answers by a script and records what it receives.
final class MailServerStandIn: Sendable {
    /// The steps of an SMTP conversation.
    enum Step: Hashable { case greeting, hello, mail, recipient, data, message, quit }

    /// The replies that replace its usual ones. An empty reply closes the connection.
    typealias Script = [Step: String]

    private final class Notes: Sendable {
        let heard = Mutex((lines: [String](), message: ""))
    }

    private let listener: LocalListener
    private let notes: Notes
    private let ends: AsyncStream<Void>

    init(_ script: Script = [:]) throws {
        let notes = Notes()
        self.notes = notes
        let (ends, end) = AsyncStream<Void>.makeStream()
        self.ends = ends
        listener = try LocalListener(serving: { line in
            Self.converse(line, script, notes)
            end.yield()
        })
    }

    var port: UInt16 { listener.port }
    func stop() { listener.stop() }

    /// Waits until a client has disconnected.
    func isLeft() async { for await _ in ends { break } }

    /// The commands of all its clients.
    var lines: [String] { notes.heard.withLock { $0.lines } }
    /// The last message, as it was received.
    var message: String { notes.heard.withLock { $0.message } }

    private static func converse(_ line: LocalListener.Connection, _ script: Script, _ notes: Notes) {
        /// Sends the scripted reply to `step`, or `yes`. False when the conversation is over.
        func answer(_ step: Step, _ yes: String) -> Bool {
            let text = script[step] ?? yes
            guard !text.isEmpty else { return false }
            line.say(text)
            return true
        }
        guard answer(.greeting, "220 stand-in") else { return }
        while let command = line.next() {
            notes.heard.withLock { $0.lines.append(command) }
            switch command.prefix(4).uppercased() {
            case "EHLO": guard answer(.hello, "250-stand-in\r\n250 8BITMIME") else { return }
            case "MAIL": guard answer(.mail, "250 ok") else { return }
            case "RCPT": guard answer(.recipient, "250 ok") else { return }
            case "DATA":
                guard answer(.data, "354 go on") else { return }
                guard script[.data] == nil else { continue }
                var message = ""
                while let text = line.next(), text != "." { message += text + "\r\n" }
                notes.heard.withLock { [message] in $0.message = message }
                guard answer(.message, "250 taken") else { return }
            case "NOOP": line.say("250 ok")
            case "QUIT":
                if script[.quit] == nil {
                    line.say("221 bye")
                    return
                }
            default: line.say("502 what?")
            }
        }
    }
}
