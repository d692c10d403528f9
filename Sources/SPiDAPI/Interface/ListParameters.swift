import Authentication
import Directory
import HTTP
import HTTPSupport
import OAuth
import SPiD
import Values

/// The parameters that SPiD's lists share: which part, and from when to when.
extension SPiDCall {
    static let listParameters = ["limit", "offset", "since", "until", "filters"]

    /// `limit` and `offset`. A larger limit than `ListPart.most` counts as that.
    func part() throws -> ListPart {
        var part = ListPart()
        if let limit = try number("limit") { part.limit = min(limit, ListPart.most) }
        if let offset = try number("offset") {
            // Each row before the part is read.
            guard offset <= ListPart.mostBefore else {
                throw SPiDRefusal.malformed("offset", "at most \(ListPart.mostBefore): go on by since and until")
            }
            part.offset = offset
        }
        return part
    }

    private func number(_ name: String) throws -> Int? {
        guard let text = self[name] else { return nil }
        guard let number = Int(text), number >= 0 else {
            throw SPiDRefusal.malformed(name, "a whole number, 0 or more")
        }
        return number
    }

    /// `since` and `until`.
    func span() throws -> TimeSpan { TimeSpan(since: try moment("since"), until: try moment("until")) }

    private func moment(_ name: String) throws -> Timestamp? {
        guard let text = self[name] else { return nil }
        guard let moment = Timestamp(spid: text, at: now) else {
            throw SPiDRefusal.malformed(
                name, "seconds since 1970, YYYY-MM-DD HH:MM:SS in UTC, or a phrase as yesterday, last year or -7 days")
        }
        return moment
    }

    /// `filters`, as a list with commas or as `filters[]`. An unknown filter is refused: ignoring it would return users
    /// that were not asked for.
    func filters(known: Set<String>) throws -> Set<String> {
        let named = try request.query.pairs.filter { ["filters", "filters[]"].contains($0.name) }
        let filters = named.flatMap { $0.value.split(separator: ",") }.map { String($0.filter { $0 != " " }) }
        guard let unknown = filters.first(where: { !known.contains($0) }) else { return Set(filters) }
        throw SPiDRefusal.malformed("filters", "of \(known.sorted().joined(separator: ", ")), and not \(unknown)")
    }
}
