import TestSupport
import Testing
import Values

/// A cause of a row of the matrix: what the row is about, and the deed.
struct ModelCause: Sendable {
    let name: String
    /// Prepares everything but the deed, for a user of this cause alone.
    let prepare: @Sendable (ModelUser) async throws -> Prepared

    init(_ name: String, _ prepare: @escaping @Sendable (ModelUser) async throws -> Prepared) {
        self.name = name
        self.prepare = prepare
    }

    struct Prepared {
        let members: [Member]
        /// Who gets a callback, each once.
        var callbacks: Set<ModelWorld.Receiver> = []
        /// The notice to the client that the user leaves.
        var left: ModelWorld.Message?
        var deed: () async throws -> Void
        /// Undoes the deed, if possible.
        var undo: (() async throws -> Void)?
    }
}

/// Something that a cell's letter is about.
struct Member {
    /// A part of a cell.
    struct Part {
        let column: ModelMatrix.Column
        /// The words before the letters.
        let word: String

        static func own(_ word: String = "") -> Part { Part(column: .own, word: word) }
        static func inWebViews(_ word: String = "") -> Part { Part(column: .inWebViews, word: word) }
        static func backends(_ word: String = "") -> Part { Part(column: .backends, word: word) }
    }

    let part: Part
    /// Which of three letters.
    var letter = 0
    let name: String
    /// Its fate, if the matrix does not speak of it.
    var fate: Fate?
    /// The part about its source: it lives if that lives.
    var origin: Part?
    /// The notices that its end leaves: of a session, those for its sites.
    var notices: [ModelWorld.Message] = []
    let isLive: () async throws -> Bool

    static func held(_ part: Part, _ name: String, _ held: Held) -> Member {
        Member(part: part, name: name) { try await held.isLive() }
    }

    static func session(_ part: Part, _ name: String, _ session: ModelPlace) -> Member {
        Member(part: part, name: name, notices: [session.notice]) { try await session.isLive() }
    }

    /// What was got in a web view whose source is `origin`.
    static func got(_ part: Part, in name: String, _ webView: ModelPlace, origin: Part) -> [Member] {
        zip(0..., webView.got).map { letter, held in
            Member(part: part, letter: letter, name: "\(ModelPlace.kinds[letter]) in \(name)", origin: origin) {
                try await held.isLive()
            }
        }
    }

    /// The same with a fixed fate, whatever the matrix says.
    func always(_ fate: Fate) -> Member {
        var member = self
        member.fate = fate
        return member
    }
}

extension [Member] {
    /// The same, all of which live whatever the matrix says.
    var living: [Member] { map { $0.always(.lives) } }
}

extension Branch {
    /// These tokens and the web view that they bought, under one letter, and what was got in it.
    func members(_ part: Member.Part, inWebViews: Member.Part = .inWebViews(), _ name: String) -> [Member] {
        [.held(part, name, held)] + webView.members(part, inWebViews: inWebViews, "the web view of \(name)")
    }
}

extension ModelPlace {
    /// The session, as a web view, and what was got in it.
    func members(_ part: Member.Part, inWebViews: Member.Part = .inWebViews(), _ name: String) -> [Member] {
        [.session(part, name, self)] + Member.got(inWebViews, in: name, self, origin: part)
    }

    /// The session, as the row's own, and what was got in it.
    func members(_ session: String, passing: String = "passing", lasting: String = "lasting", _ name: String)
        -> [Member]
    {
        [.session(.own(session), name, self)] + gotMembers(passing: passing, lasting: lasting, name)
    }

    /// What was got in it.
    func gotMembers(passing: String, lasting: String, _ name: String) -> [Member] {
        zip([passing, lasting, lasting], zip(Self.kinds, got)).map { word, tokens in
            .held(.own(word), "\(tokens.0) in \(name)", tokens.1)
        }
    }
}
