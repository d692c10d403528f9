/// Why a command line starts no command: the text to print and the exit status.
public struct CommandExit: Error, Sendable {
    /// The text to print, on standard output if `status` is 0, otherwise on standard error.
    public let text: String
    /// 0 after help and version, 64 after misuse (EX_USAGE of sysexits.h).
    public let status: Int32

    init(help path: CommandPath) {
        text = HelpText(path).text
        status = 0
    }

    init(version: String) {
        text = version
        status = 0
    }

    init(_ misuse: Misuse, usage: Usage) {
        let help = misuse.help.map { "Help:  \($0)\n" } ?? ""
        text =
            "Error: \(misuse.message)\n\(help)Usage: \(usage.text)\n  See '\(usage.name) --help' for more information."
        status = 64
    }
}
