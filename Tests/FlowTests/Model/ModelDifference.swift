/// Where the program of today and docs/model.md differ: each with the letter that is true today, and what is wrong with
/// it. The page says what is to be. A test fails as soon as one of these is no longer so.
struct ModelDifference: Sendable {
    let row: Int
    let cause: String
    let member: String
    let today: Fate
    let why: String

    static let all: [ModelDifference] = []
}
