import Foundation

/// The two streams a command writes to.
enum Terminal {
    /// Prints what was asked for.
    static func print(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

    /// Tells what is not part of the answer, on the standard error.
    static func tell(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
}
