import Testing

@testable import HTTPServer

@Suite struct StreamTableTests {
    @Test("A stream is found by its id, whichever are removed around it")
    func found() {
        var (table, known) = (StreamTable(), Set<Int32>())
        for turn: Int32 in 0..<400 {
            let id = 2 * turn + 1
            table.append(HTTP2Stream(id: id))
            known.insert(id)
            // The oldest, the newest and some between go.
            if turn % 3 == 0, let gone = [known.min(), known.max(), known.first][Int(turn / 3) % 3] {
                #expect(table.remove(gone)?.id == gone)
                #expect(table.remove(gone) == nil && table[gone] == nil)
                known.remove(gone)
            }
            #expect(table.all.map(\.id) == known.sorted())
            for id in known { #expect(table[id]?.id == id) }
            #expect(table[id + 1] == nil && table[0] == nil && table[id + 2] == nil)
        }
        #expect(!table.isEmpty)
    }
}
