import Cryptography
import Foundation

/// The bytes of a hexadecimal text, as the standards print their examples.
func bytes(hex text: String) -> [UInt8] {
    let digits = text.filter { !$0.isWhitespace }.compactMap { $0.hexDigitValue.map(UInt8.init) }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

/// No randomness at all: returns the same bytes over and over.
struct FixedRandom: RandomSource {
    let pattern: [UInt8]
    func bytes(_ count: Int) -> [UInt8] { (0..<count).map { pattern[$0 % pattern.count] } }
}

/// A folder for one test, removed with this object.
final class TemporaryFolder: Sendable {
    private let url = FileManager.default.temporaryDirectory.appending(path: "spindle-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }

    var path: String { url.path(percentEncoded: false) }
    func path(_ name: String) -> String { url.appending(path: name).path(percentEncoded: false) }
}
