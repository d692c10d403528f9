/// Reads settings one by one, takes each from the first layer that has it, and collects the faults.
struct ConfigurationReading {
    private let layers: [ConfigurationLayer]
    private(set) var faults: [ConfigurationFault] = []

    init(layers: [ConfigurationLayer]) { self.layers = layers }

    /// The setting `key`, read by `parse`; nil when it is missing or faulty.
    mutating func value<Value>(
        _ key: ConfigurationKey, _ expected: String, _ parse: (String) -> Value?
    ) -> Value? {
        read(key, expected, { layer throws(ConfigurationLayer.Unreadable) in try layer.text(key) }, parse)
    }

    /// A list of which `parse` can read every item; empty when it is missing or faulty.
    mutating func list<Value>(
        _ key: ConfigurationKey, _ expected: String, _ parse: (String) -> Value?
    ) -> [Value] {
        read(key, expected, { layer throws(ConfigurationLayer.Unreadable) in try layer.list(key) }) { items in
            let values = items.compactMap(parse)
            return values.count == items.count ? values : nil
        } ?? []
    }

    /// A whole number within `range`.
    mutating func number(_ key: ConfigurationKey, of unit: String, within range: ClosedRange<Int>) -> Int? {
        value(key, "a whole number of \(unit) from \(range.lowerBound) to \(range.upperBound)") { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// Where `key` was given; nil when it was not.
    func place(of key: ConfigurationKey) -> String? {
        layers.first { layer in
            do {
                // A list can be read from a setting of any form.
                return try layer.list(key) != nil
            } catch {
                return true
            }
        }?.place(key)
    }

    mutating func refuse(_ key: ConfigurationKey, _ expected: String) {
        faults.append(ConfigurationFault(key.rawValue, expected, at: place(of: key)))
    }

    private mutating func read<Raw, Value>(
        _ key: ConfigurationKey, _ expected: String,
        _ ask: (ConfigurationLayer) throws(ConfigurationLayer.Unreadable) -> Raw?, _ parse: (Raw) -> Value?
    ) -> Value? {
        for layer in layers {
            do {
                guard let raw = try ask(layer) else { continue }
                if let value = parse(raw) { return value }
            } catch {}
            faults.append(ConfigurationFault(key.rawValue, expected, at: layer.place(key)))
            return nil
        }
        return nil
    }
}
