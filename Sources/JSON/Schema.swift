/// What a JSON value may be, as JSON Schema (2020-12) and so OpenAPI 3.1 say it.
public struct Schema: Sendable, Hashable {
    /// How a text on a command line is read as the value.
    public enum Kind: Sendable { case text, list, flag, number, document }

    public let kind: Kind
    public let json: JSON

    public init(_ kind: Kind, _ json: JSON) {
        self.kind = kind
        self.json = json
    }

    private static func typed(_ kind: Kind, _ name: String, _ others: KeyValuePairs<String, JSON?> = [:]) -> Schema {
        Schema(kind, .object([.init("type", .string(name))] + (JSON.members(others).members ?? [])))
    }

    public static let text = typed(.text, "string")
    /// A text of so many characters at most, none of which controls.
    public static func text(_ most: Int) -> Schema { text(1...most) }
    public static func text(_ lengths: ClosedRange<Int>) -> Schema {
        typed(
            .text, "string",
            [
                "minLength": .integer(Int64(lengths.lowerBound)), "maxLength": .integer(Int64(lengths.upperBound)),
                "pattern": #"^[^\u0000-\u001f\u007f]*$"#,
            ])
    }
    /// A text that the regular expression finds.
    public static func text(like pattern: String) -> Schema { typed(.text, "string", ["pattern": .string(pattern)]) }
    public static let uri = typed(.text, "string", ["format": "uri"])
    public static let email = typed(.text, "string", ["format": "email"])
    public static func word(_ words: [String]) -> Schema {
        typed(.text, "string", ["enum": .array(words.map { .string($0) })])
    }
    public static func word(_ words: String...) -> Schema { word(words) }
    public static let flag = typed(.flag, "boolean")
    public static let number = typed(.number, "integer")
    public static func number(_ range: ClosedRange<Int64>) -> Schema {
        typed(.number, "integer", ["minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)])
    }
    public static func number(of numbers: Int64...) -> Schema {
        typed(.number, "integer", ["enum": .array(numbers.map { .integer($0) })])
    }
    /// Seconds since 1970.
    public static let time = typed(.number, "integer", ["format": "int64"])
    public static func list(_ item: Schema, most: Int? = nil) -> Schema {
        typed(.list, "array", ["items": item.json, "maxItems": most.map { .integer(Int64($0)) }])
    }
    /// An object with any members.
    public static let document = typed(.document, "object")
    public static let null = typed(.document, "null")
    public static func map(_ value: Schema, most: Int? = nil) -> Schema {
        typed(
            .document, "object",
            ["additionalProperties": value.json, "maxProperties": most.map { .integer(Int64($0)) }])
    }
    public static func object(_ properties: KeyValuePairs<String, Schema>, required: [String] = []) -> Schema {
        typed(
            .document, "object",
            [
                "properties": .object(properties.map { .init($0.key, $0.value.json) }),
                "required": required.isEmpty ? nil : .array(required.map { .string($0) }),
            ])
    }
    public static func any(of schemas: Schema...) -> Schema {
        Schema(schemas.first?.kind ?? .text, .members(["anyOf": .array(schemas.map(\.json))]))
    }
    public static let anything = Schema(.document, .object([]))
    /// The schema with this name among the components of the description.
    public static func named(_ name: String) -> Schema {
        Schema(.document, .members(["$ref": .string("#/components/schemas/\(name)")]))
    }

    /// The same, or null.
    public var orNull: Schema {
        guard case .object(let members) = json, let type = json["type"], json["$ref"] == nil else {
            return Schema(kind, .members(["anyOf": .array([json, .members(["type": "null"])])]))
        }
        return Schema(
            kind,
            .object(
                members.map { member in
                    switch member.name {
                    case "type": .init("type", .array([type, "null"]))
                    case "enum": .init("enum", .array((member.value.array ?? []) + [.null]))
                    default: member
                    }
                }))
    }

    /// The same with further keywords.
    public func adding(_ keywords: KeyValuePairs<String, JSON?>) -> Schema {
        Schema(kind, .object((json.members ?? []) + (JSON.members(keywords).members ?? [])))
    }
}
