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
