import Foundation
import Testing
import Values

@testable import SPiD

@Suite struct TimeZoneTests {
    private static func moment(_ text: String) throws -> Timestamp {
        let date = try Date(text, strategy: .iso8601)
        return Timestamp(milliseconds: Int64(date.timeIntervalSince1970) * 1000)
    }

    @Test(
        "A time zone's offset is that of the moment, also after the last change that its file lists",
        arguments: [
            ("Europe/Oslo", "2026-01-15T12:00:00Z", "+01:00"), ("Europe/Oslo", "2026-07-15T12:00:00Z", "+02:00"),
            ("Europe/Oslo", "2026-03-29T00:59:59Z", "+01:00"), ("Europe/Oslo", "2026-03-29T01:00:00Z", "+02:00"),
            ("Europe/Oslo", "2026-10-25T00:59:59Z", "+02:00"), ("Europe/Oslo", "2026-10-25T01:00:00Z", "+01:00"),
            ("Europe/Oslo", "2090-07-15T12:00:00Z", "+02:00"), ("Europe/Oslo", "2090-12-15T12:00:00Z", "+01:00"),
            ("Australia/Sydney", "2090-01-15T12:00:00Z", "+11:00"),
            ("Australia/Sydney", "2090-07-15T12:00:00Z", "+10:00"),
            ("Asia/Kathmandu", "2026-01-15T12:00:00Z", "+05:45"),
            ("America/St_Johns", "2026-01-15T12:00:00Z", "-03:30"), ("Etc/GMT-3", "2026-01-15T12:00:00Z", "+03:00"),
            ("UTC", "2026-01-15T12:00:00Z", "+00:00"),
        ])
    func offsets(_ zone: String, _ moment: String, _ offset: String) throws {
        #expect(SPiDPlace.offset(of: zone, at: try Self.moment(moment)) == offset)
    }

    @Test(
        "Text that names no time zone has the offset of UTC, and leads to no other file",
        arguments: [
            "", "/", "Europe", "Europe/", "Europe/Nowhere", "/etc/passwd", "../../../etc/passwd",
            "Europe/../Europe/Oslo",
            "europe/oslo", "Europe/Oslo\0", "Europe/Oslo\n", "zone.tab", "Europe//Oslo",
            String(repeating: "A", count: 99),
        ])
    func strangers(_ name: String) throws {
        #expect(TimeZones.named(name) == nil)
        #expect(SPiDPlace.offset(of: name, at: try Self.moment("2026-07-15T12:00:00Z")) == "+00:00")
    }

    @Test(
        "A time zone's yearly rule gives the offset of each part of the year",
        arguments: [
            ("CET-1CEST,M3.5.0,M10.5.0/3", 3600, 7200), ("EST5EDT,M3.2.0,M11.1.0", -18000, -14400),
            ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", -7200, -3600), ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", 39600, 37800),
            ("IST-1GMT0,M10.5.0,M3.5.0/1", 0, 3600), ("EET-2EEST,J60/0,J300/0", 7200, 10800),
            ("EET-2EEST,59,300", 7200, 10800), ("MSK-3", 10800, 10800), ("XXX3EDT4,0/0,J365/23", -14400, -14400),
        ])
    func rules(_ text: String, _ january: Int, _ july: Int) throws {
        let rule = try #require(TimeZoneRule(text))
        #expect(rule.offset(at: try Self.moment("2026-01-15T12:00:00Z").seconds) == january)
        #expect(rule.offset(at: try Self.moment("2026-07-15T12:00:00Z").seconds) == july)
    }

    @Test(
        "Text that is no yearly rule of a time zone is refused",
        arguments: ["", "CET", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0", "CET-999", "1"])
    func strangeRules(_ text: String) { #expect(TimeZoneRule(text) == nil) }

    @Test("A time zone file that ends early, or is none, is refused")
    func damaged() throws {
        let file = try Array(Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/Europe/Oslo")))
        #expect(TimeZoneFile(file) != nil)
        #expect(TimeZoneFile([]) == nil && TimeZoneFile(Array("TZif".utf8)) == nil)
        for length in stride(from: 0, to: file.count - 100, by: 37) {
            #expect(TimeZoneFile(Array(file.prefix(length))) == nil)
        }
    }
}
