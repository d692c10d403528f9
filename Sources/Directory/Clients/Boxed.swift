/// Keeps a part of a value behind one reference: copying the whole then retains one object instead of many.
@propertyWrapper
public struct Boxed<Value: Sendable>: Sendable {
    private final class Box: Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    private var box: Box

    public init(wrappedValue: Value) { box = Box(wrappedValue) }

    public var wrappedValue: Value {
        get { box.value }
        set { box = Box(newValue) }
    }
}

extension Boxed: Equatable where Value: Equatable {
    public static func == (a: Self, b: Self) -> Bool { a.box === b.box || a.box.value == b.box.value }
}
