internal import CUnistring
import Glibc

extension String {
    /// The text in normalization form C (Unicode Standard Annex #15): the same bytes however it was typed.
    ///
    /// Its UTF-8 is at most three times as long as the text's.
    public var canonicallyComposed: String { unsafe normalized { unsafe spindle_nfc($0, $1, nil, &$2) } }

    /// The text in normalization form KD: letters apart from their marks, and variants of a letter as that letter.
    public var compatiblyDecomposed: String { unsafe normalized { unsafe spindle_nfkd($0, $1, nil, &$2) } }

    private func normalized(
        _ form: (_ text: [UInt8], _ length: Int, _ result: inout Int) -> UnsafeMutablePointer<UInt8>?
    ) -> String {
        // ASCII is already in every form.
        guard !utf8.allSatisfy({ $0 < 0x80 }) else { return self }
        // A String is well-formed UTF-8, which the library does not check.
        let text = Array(utf8)
        var length = 0
        // Without a buffer from us, the library always allocates the result, and we must free it.
        guard let normal = unsafe form(text, text.count, &length) else { preconditionFailure("out of memory") }
        defer { unsafe free(normal) }
        return unsafe String(decoding: UnsafeBufferPointer(start: normal, count: length), as: UTF8.self)
    }
}
