extension String {
    /// The probably intended text: the first of the `candidates` with the smallest distance, which is at most 3. Nil if
    /// none is that near, and for one or two characters, which are near to too much.
    public func nearest(of candidates: [String]) -> String? {
        let name = Array(utf8)
        guard name.count > 2 else { return nil }
        var nearest: String?
        var least = Self.farthest + 1
        // Lengths that differ by more are farther apart, however long the given text is.
        for candidate in candidates where abs(candidate.utf8.count - name.count) <= Self.farthest {
            let distance = Self.distance(of: name, to: Array(candidate.utf8))
            if distance < least { (nearest, least) = (candidate, distance) }
        }
        return nearest
    }

    private static var farthest: Int { 3 }

    /// How many bytes must be inserted, removed or replaced (Levenshtein): the known names are ASCII.
    private static func distance(of name: [UInt8], to other: [UInt8]) -> Int {
        var distances = Array(0...other.count)
        for (row, letter) in name.enumerated() {
            var diagonal = distances[0]
            distances[0] = row + 1
            for column in other.indices {
                let exchanged = diagonal + (letter == other[column] ? 0 : 1)
                diagonal = distances[column + 1]
                distances[column + 1] = Swift.min(exchanged, diagonal + 1, distances[column] + 1)
            }
        }
        return distances[other.count]
    }
}
