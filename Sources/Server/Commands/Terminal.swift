import Foundation

/// The two streams that a command writes to.
enum Terminal {
    /// Prints the command's answer to standard output.
    static func print(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

    /// Prints anything that is not part of the answer to standard error.
    static func tell(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
}
