import Testing
import Threads

@Suite("Senders take turns")
struct TurnsTests {
    @Test("Work of several senders is done in turns, however much of it one of them has")
    func turns() {
        var turns = Turns<String>()
        for number in 1...3 { turns.insert("a\(number)", of: "a") }
        for number in 1...2 { turns.insert("b\(number)", of: "b") }
        var order: [String] = []
        while let next = turns.takeFirst() { order.append(next.work) }
        #expect(order == ["a1", "b1", "a2", "b2", "a3"])
    }

    @Test("A sender whose work was passed over gets no extra turns before later senders afterwards")
    func passedOver() {
        var turns = Turns<String>()
        for number in 1...2 { turns.insert("a\(number)", of: "a") }
        for number in 1...9 { turns.insert("b\(number)", of: "b") }
        for number in 1...6 { #expect(turns.takeFirst { $0 != "a" }?.work == "b\(number)") }
        #expect(turns.takeFirst()?.work == "a1")
        for number in 1...3 { turns.insert("c\(number)", of: "c") }
        var order: [String] = []
        while let next = turns.takeFirst() { order.append(next.work) }
        #expect(order == ["a2", "b7", "c1", "b8", "c2", "b9", "c3"])
    }

    @Test("The sender with most queued work loses its last piece, unless the new sender would have as many")
    func largest() {
        var turns = Turns<String>()
        for number in 1...3 { turns.insert("a\(number)", of: "a") }
        #expect(turns.takeLastOfLargest(besides: "b") == "a3")
        turns.insert("b1", of: "b")
        #expect(turns.takeLastOfLargest(besides: "b") == nil)
        #expect(turns.count == 3 && turns.count(of: "a") == 2)
        #expect(turns.takeLastOfLargest() == "a2")
        #expect(turns.takeLast(of: "b") == "b1")
        #expect(turns.all == ["a1"])
    }
}
