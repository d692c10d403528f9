import HTTP

/// Reads the body of one request, up to its route's limit.
struct BodyReader {
    enum Step {
        case more
        case done
        case fault(Request.Fault)
    }

    private enum Form {
        case length(left: Int)
        case chunked(ChunkedReader)
    }

    private(set) var bytes: [UInt8] = []
    private var form: Form
    private let limit: Int

    /// The most that is reserved at once; more is reserved as bytes come.
    private static let maxReserved = 16 * 1024

    /// Nil when there is no body to read.
    init?(_ framing: Framing, limit: Int) {
        self.limit = limit
        switch framing {
        case .none: return nil
        case .length(let length):
            form = .length(left: length)
            bytes.reserveCapacity(min(length, Self.maxReserved))
        case .chunked: form = .chunked(ChunkedReader(limit: limit))
        }
    }

    /// Reads from `input`, and adds the count of bytes read to `used`.
    mutating func read(_ input: borrowing Span<UInt8>, used: inout Int) -> Step {
        switch form {
        case .length(let left):
            let count = min(left, input.count)
            bytes.append(contentsOf: input.extracting(0..<count))
            used += count
            form = .length(left: left - count)
            return left == count ? .done : .more
        case .chunked(var reader):
            do throws(ChunkedReader.Fault) {
                used += try reader.read(input, into: &bytes)
                form = .chunked(reader)
                return reader.isDone ? .done : .more
            } catch {
                return .fault(error == .tooLarge ? .tooLarge(limit: limit) : .cutOff)
            }
        }
    }
}
