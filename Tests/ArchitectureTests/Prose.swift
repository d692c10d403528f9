import Foundation

/// What people read of a file: its comments, the titles of its tests, and the texts that users get.
extension SourceFile {
    var prose: [String] {
        let isSource = path.hasPrefix("Sources/")
        return switch URL(filePath: path).pathExtension {
        case "swift": comments(after: "//") + (isSource ? literals : titles)
        case "sql": comments(after: "--")
        case "py": comments(after: "#") + docstrings
        case "json": isSource ? lines.map(String.init) : []
        default: []
        }
    }

    /// Each block of comment lines as one text, and each comment behind code, without the code that they quote.
    private func comments(after marker: String) -> [String] {
        var blocks: [String] = []
        var isInBlock = false
        for line in lines {
            let trimmed = line.drop { $0 == " " }
            if trimmed.hasPrefix(marker) {
                let words = String(trimmed.drop { marker.contains($0) })
                let block = isInBlock ? blocks.removeLast() : ""
                blocks.append(block + words)
                isInBlock = true
            } else {
                isInBlock = false
                if line.mentions(" \(marker) "), let remark = line.ranges(of: " \(marker) ").last {
                    blocks.append(String(line[remark.upperBound...]))
                }
            }
        }
        let quoted = /`[^`]*`/
        return blocks.map { $0.mentions("`") ? $0.replacing(quoted, with: "") : $0 }
    }

    private var titles: [String] {
        text.matches(of: /@(?:Test|Suite)\(\s*"((?:[^"\\]|\\.)*)"/).map { String($0.output.1) }
    }

    /// The string literals of more than one word, on one line or between three quotes.
    private var literals: [String] {
        var found: [Substring] = []
        let blocks = text.replacing("\\\"", with: "'").split(separator: "\"\"\"", omittingEmptySubsequences: false)
        for (number, block) in blocks.enumerated() {
            guard number % 2 == 0 else {
                found.append(block)
                continue
            }
            for line in block.split(separator: "\n") where !line.drop(while: \.isWhitespace).hasPrefix("//") {
                let pieces = line.split(separator: "\"", omittingEmptySubsequences: false)
                found += pieces.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
            }
        }
        return found.map(String.init).filter { $0.contains(" ") }
    }

    /// The texts between three quotes that begin a line.
    private var docstrings: [String] {
        let pieces = text.split(separator: "\"\"\"", omittingEmptySubsequences: false)
        return zip(pieces, pieces.dropFirst()).enumerated().compactMap { number, pair in
            let indentation = pair.0.split(separator: "\n", omittingEmptySubsequences: false).last ?? ""
            return number % 2 == 0 && indentation.allSatisfy { $0 == " " } ? String(pair.1) : nil
        }
    }
}
