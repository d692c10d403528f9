import Foundation

/// What becomes of something when something else happens: a letter of the matrix.
enum Fate: String, Sendable, CaseIterable {
    case ends = "E"
    case lives = "L"
    case rests = "R"
}

/// The matrix of docs/model.md: what ends what, and who is told.
struct ModelMatrix: Sendable {
    static let size = 16

    /// The columns whose cells have letters.
    enum Column: Int, Sendable, CaseIterable { case own, inWebViews, backends }

    /// Who is told.
    enum Told: String, Sendable, CaseIterable {
        case sites, callback
        case left = "that client"
        case noClient = "no client"
    }

    struct Row: Sendable {
        let number: Int
        let cause: String
        /// By column, and by the words before the letters.
        let cells: [Column: [String: [Fate]]]
        let told: Set<Told>
    }

    struct Fault: Error, Equatable, CustomStringConvertible { let description: String }

    let rows: [Row]

    /// The page in this repository.
    static func read() throws -> ModelMatrix {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return try ModelMatrix(String(contentsOf: root.appending(path: "docs/model.md"), encoding: .utf8))
    }

    /// Reads the matrix out of the text of the page. Throws a `Fault` that names what it does not understand.
    init(_ page: String) throws {
        let tables = page.split(separator: "\n\n").map { $0.split(separator: "\n").filter { $0.hasPrefix("|") } }
        guard let words = tables.first(where: { $0.first?.hasPrefix("| word |") == true }) else {
            throw Fault(description: "the page has no table of words")
        }
        guard let matrix = tables.first(where: { $0.first?.hasPrefix("| # |") == true }) else {
            throw Fault(description: "the page has no matrix")
        }
        let known = Set(words.dropFirst(2).compactMap { Self.cells(of: $0).first })
        rows = try matrix.dropFirst(2).map { try Row(Self.cells(of: $0), words: known) }
        guard rows.map(\.number) == Array(1...Self.size) else {
            throw Fault(description: "the rows are \(rows.map(\.number)), not 1 to \(Self.size)")
        }
        let used = Set(rows.flatMap { $0.cells.values.flatMap(\.keys) }).subtracting([""])
        guard used == known else {
            throw Fault(description: "the table of words has \(known.symmetricDifference(used).sorted()) for nothing")
        }
    }

    private static func cells(of line: Substring) -> [String] {
        line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
}

extension ModelMatrix.Row {
    fileprivate init(_ texts: [String], words: Set<String>) throws {
        guard texts.count == 6, let number = Int(texts[0]) else {
            throw ModelMatrix.Fault(description: "no row of six cells: \(texts.joined(separator: " | "))")
        }
        self.number = number
        cause = texts[1]
        cells = try Dictionary(
            uniqueKeysWithValues: ModelMatrix.Column.allCases.map { column in
                (column, try Self.letters(texts[2 + column.rawValue], column, number, words))
            })
        let told = texts[5].components(separatedBy: "; ").map(ModelMatrix.Told.init(rawValue:))
        guard !told.contains(nil), !told.contains(.noClient) || told.count == 1 else {
            throw ModelMatrix.Fault(description: "row \(number) tells \(texts[5])")
        }
        self.told = Set(told.compactMap(\.self))
    }

    /// The parts of a cell: letters, each with the words before them.
    private static func letters(
        _ text: String, _ column: ModelMatrix.Column, _ number: Int, _ words: Set<String>
    ) throws -> [String: [Fate]] {
        var cell: [String: [Fate]] = [:]
        for part in text.components(separatedBy: "; ") {
            let tokens = part.components(separatedBy: " ")
            let letters = tokens.reversed().prefix { Fate(rawValue: $0) != nil }.reversed()
            let word = tokens.dropLast(letters.count).joined(separator: " ")
            guard letters.count == (column == .inWebViews ? 3 : 1), word.isEmpty || words.contains(word),
                cell.updateValue(letters.compactMap(Fate.init(rawValue:)), forKey: word) == nil
            else { throw ModelMatrix.Fault(description: "row \(number) says “\(part)”") }
        }
        return cell
    }
}
