import JSON

/// Formats documents as tables to read.
enum Table {
    /// One document: a line for each member.
    static func of(_ document: JSON) -> String {
        let members = document.members ?? []
        let width = members.map(\.name.count).max() ?? 0
        return members.map { pad($0.name, to: width) + "  " + cell($0.value) }.joined(separator: "\n")
    }

    /// Many documents: a row for each, under a header.
    static func of(_ documents: [JSON], columns: [String]) -> String {
        of([columns] + documents.map { document in columns.map { cell(document[$0]) } })
    }

    /// Rows with the same number of cells each, aligned in columns.
    static func of(_ rows: [[String]]) -> String {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = row.indices.dropLast().map { pad(row[$0], to: widths[$0]) } + row.suffix(1)
            return cells.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    /// A value on one line. Text from other users must not control the terminal.
    private static func cell(_ value: JSON?) -> String {
        switch value {
        case nil, .null: "-"
        case .string(let text): text.isEmpty ? "-" : text.printable
        case .bool(let flag): flag ? "yes" : "no"
        case .array(let values): values.isEmpty ? "-" : values.map(cell).joined(separator: " ")
        case let value?: value.text.printable
        }
    }

    private static func pad(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
