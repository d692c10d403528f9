import HTTP

/// One request and its response. It is found only by its id, and is gone when nghttp2 closes the stream.
final class HTTP2Stream {
    enum Phase {
        case head
        /// `limit` is in bytes.
        case body(Request, limit: Int)
        case ready(Request)
        /// The handler is at work.
        case working
        /// `isComplete` when the last byte of the response is in `output`.
        case answering(isComplete: Bool)
        case answered
    }

    let id: Int32
    var phase = Phase.head
    /// The size of its head, until the handler has answered.
    var headBytes = 0
    var body: [UInt8] = []
    /// Its part of the session's `incompleteBytes`, or of `bytesAtWork`.
    var held = 0
    /// The handler has its request, and has not answered.
    var isAtWork = false
    var isHEAD = false
    var trailers = 0
    /// The peer has sent its last byte.
    var hasEnded = false
    /// When the whole request must have arrived, or the response must have made progress.
    var deadline = Milliseconds.never
    /// How many bytes of its response the peer has read since the deadline was set.
    var taken = 0

    private var output: [UInt8] = []
    private var sent = 0

    init(id: Int32) { self.id = id }

    var isAnswered: Bool {
        if case .answered = phase { true } else { false }
    }

    var isReady: Bool {
        if case .ready = phase { true } else { false }
    }

    /// Hands out the request that is ready; from then on the handler is at work.
    func takeRequest() -> Request? {
        guard isReady else { return nil }
        var taken = Phase.working
        swap(&taken, &phase)
        guard case .ready(let request) = taken else { return nil }
        return request
    }

    /// Whether more of the response may come.
    var isStreaming: Bool {
        if case .answering(isComplete: false) = phase { true } else { false }
    }

    var unsent: Int { output.count - sent }

    func append(_ part: [UInt8]) {
        guard unsent > 0 else {
            output = part
            sent = 0
            return
        }
        output.removeFirst(sent)
        sent = 0
        output.append(contentsOf: part)
    }

    /// Moves as much as fits to `buffer`, and returns how much that was.
    func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, unsent)
        guard count > 0 else { return 0 }
        unsafe output.withUnsafeBytes { bytes in
            unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[sent..<(sent + count)]))
        }
        sent += count
        if unsent == 0 {
            output = []
            sent = 0
        }
        return count
    }

    func dropOutput() {
        output = []
        sent = 0
    }
}

/// A connection's streams in the order of their ids, which is the order in which they begin. There are at most about a
/// hundred, so a search takes a few steps.
struct StreamTable {
    private(set) var all: [HTTP2Stream] = []
    private var ids: [Int32] = []

    var isEmpty: Bool { all.isEmpty }

    subscript(id: Int32) -> HTTP2Stream? {
        let place = place(of: id)
        return place < ids.count && ids[place] == id ? all[place] : nil
    }

    /// The id is higher than all before: nghttp2 begins streams in this order.
    mutating func append(_ stream: HTTP2Stream) {
        ids.append(stream.id)
        all.append(stream)
    }

    mutating func remove(_ id: Int32) -> HTTP2Stream? {
        let place = place(of: id)
        guard place < ids.count, ids[place] == id else { return nil }
        ids.remove(at: place)
        return all.remove(at: place)
    }

    /// Where `id` is, or belongs. Most look-ups are for the newest or the oldest streams.
    private func place(of id: Int32) -> Int {
        guard let last = ids.last, id <= last else { return ids.count }
        guard id < last else { return ids.count - 1 }
        var (low, high) = (0, ids.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if ids[middle] < id { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
