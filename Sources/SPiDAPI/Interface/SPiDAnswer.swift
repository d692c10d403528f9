import HTTP
import JSON

/// The answer of an endpoint of SPiD's API, before it is put into the container.
struct SPiDAnswer: Sendable {
    enum Kind: Sendable {
        case element
        /// `offset` is how many items come before these.
        case collection(count: Int, offset: Int)
    }

    let status: Status
    /// SPiD's name for the kind of item: `User`, `Authorization`, `Utility`.
    let object: String
    let kind: Kind
    let data: JSON

    /// A single item.
    static func element(_ object: String, _ data: JSON, status: Status = .ok) -> SPiDAnswer {
        SPiDAnswer(status: status, object: object, kind: .element, data: data)
    }

    /// A list or a part of one.
    static func collection(_ object: String, _ items: [JSON], offset: Int = 0) -> SPiDAnswer {
        SPiDAnswer(
            status: .ok, object: object, kind: .collection(count: items.count, offset: offset), data: .array(items))
    }

    /// A list or a part of one, by the ids of its items.
    static func map(_ object: String, _ items: [JSON.Member], offset: Int = 0) -> SPiDAnswer {
        SPiDAnswer(
            status: .ok, object: object, kind: .collection(count: items.count, offset: offset), data: .object(items))
    }
}
