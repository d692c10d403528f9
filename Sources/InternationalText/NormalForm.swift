internal import CUnistring
import Glibc

extension String {
    /// The text in normalization form C (Unicode Standard Annex #15): the same bytes however it was typed.
    ///
    /// Its UTF-8 is at most three times as long as the text's.
    public var canonicallyComposed: String {
        // ASCII is already in this form.
        guard !utf8.allSatisfy({ $0 < 0x80 }) else { return self }
        // A String is well-formed UTF-8, which the library does not check.
        let text = Array(utf8)
        var length = 0
        // Without a buffer from us, the library always allocates the result, and we must free it.
        guard let composed = unsafe spindle_nfc(text, text.count, nil, &length) else {
            preconditionFailure("out of memory")
        }
        defer { unsafe free(composed) }
        return unsafe String(decoding: UnsafeBufferPointer(start: composed, count: length), as: UTF8.self)
    }
}
