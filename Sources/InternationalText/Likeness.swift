extension String {
    /// What a reader sees of the text at a glance: equal for texts that look alike. Letters and digits without marks
    /// and case; those of other scripts, digits and signs as the Latin letters that they resemble.
    ///
    /// It covers the look-alikes that are used to imitate names of firms, not all of Unicode Technical Standard #39.
    public var likeness: String {
        var seen = ""
        var isAfterLetterWithMarks = false
        // Also before they are decomposed: a lunate sigma, which looks like a c, would become one that does not.
        let alike = String(unicodeScalars.lazy.map { Self.lookAlikes[$0] ?? Character($0) })
        for scalar in alike.compatiblyDecomposed.unicodeScalars {
            let plain = Self.lookAlikes[scalar] ?? Character(scalar)
            // In other scripts a mark makes another letter.
            if scalar.properties.generalCategory == .nonspacingMark || scalar.properties.generalCategory == .spacingMark
            {
                if !isAfterLetterWithMarks { seen.unicodeScalars.append(scalar) }
                continue
            }
            isAfterLetterWithMarks = scalar.value < 0x0530 || (0x1E00..<0x2000).contains(scalar.value)
            for letter in plain.lowercased() where letter.isLetter || letter.isNumber {
                seen.append(Self.lookAlikes[letter.unicodeScalars.first ?? scalar] ?? letter)
            }
        }
        return seen.replacing("rn", with: "m").replacing("vv", with: "w")
    }

    /// The likenesses of the text, with and without small signs such as ™, ℠, Ⓡ and ª, which `likeness` takes for
    /// letters. A reader skips those after a name, but a name may also be written in them.
    public var likenesses: Set<String> {
        let withoutSigns = String(String.UnicodeScalarView(unicodeScalars.filter { !Self.isSmallSign($0) })).likeness
        return withoutSigns.isEmpty ? [likeness] : [likeness, withoutSigns]
    }

    /// Whether a reader who knows `former` sees nothing new in the text: each of its likenesses is one of `former`'s. A
    /// text of signs alone looks like no other.
    public func isAlike(_ former: String) -> Bool {
        !likeness.isEmpty && likenesses.isSubset(of: former.likenesses)
    }

    private static func isSmallSign(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // ª, ², ³, ¹, º, and modifier letters; superscripts and subscripts.
        case 0xAA, 0xB2, 0xB3, 0xB9, 0xBA, 0x2B0...0x2FF, 0x1D2C...0x1D6A, 0x1D78, 0x1D9B...0x1DBF, 0x2070...0x209C,
            0x2C7C...0x2C7D, 0xA69C...0xA69D, 0xA770, 0xA7F1...0xA7F4, 0xA7F8...0xA7F9, 0xAB5C...0xAB5F, 0xAB69,
            0x10780...0x107BF:
            true
        // ℠ and ™; letters and digits in circles, squares and parentheses.
        case 0x2120, 0x2122, 0x2460...0x24FF, 0x1F100...0x1F1FF: true
        default: false
        }
    }

    private static let lookAlikes: [Unicode.Scalar: Character] = {
        // Cyrillic, Greek and Armenian, then Coptic, Cherokee and Lisu, then small capitals.
        let letters: [(Character, String)] = [
            ("a", "АаΑαɑⲀⲁᎪꭺꓮᴀ"), ("b", "ВЬьΒβⲂⲃᏴᏼꓐʙ"), ("c", "СсϹϲⲤⲥᏟꮯꓚᴄ"), ("d", "ԀԁᎠꭰꓓᴅ"),
            ("e", "ЕеΕεᎬꭼꓰᴇ"), ("f", "Ϝꓝꜰ"), ("g", "ɡԌᏀꮐꓖɢ"), ("h", "НнһҺΗⲎⲏᎻꮋꓧʜ"), ("j", "ЈјᎫꭻꓙᴊ"),
            ("k", "КкΚκⲔⲕᏦꮶꓗᴋ"), ("l", "1IiІіΙιıӀӏ|ɩⲒⲓᏞꮮꓡꓲʟɪ"), ("m", "МмΜⲘⲙᎷꮇꓟᴍ"), ("n", "ΝηПпⲚⲛꓠɴ"),
            ("o", "0ОоΟοσՕօⲞⲟꓳᴏ"), ("p", "РрΡρⲢⲣᏢꮲꓑᴘ"), ("q", "Ԛԛ"), ("r", "ГгᎡꭱꓣʀ"), ("s", "Ѕѕ5Ꮪꮪꓢꜱ"),
            ("t", "ТтΤτⲦⲧᎢꭲꓔᴛ"), ("u", "μυՍսꓴᴜ"), ("v", "ѴѵνᏙꮩꓦᴠ"), ("w", "ԜԝωᎳꮃꓪᴡ"), ("x", "ХхΧχⲬⲭꓫ"),
            ("y", "УуΥүγⲨⲩꓬʏ"), ("z", "ΖζᏃꮓꓜᴢ"),
        ]
        // Latin letters with a stroke or a hook, then signs that stand for letters in names of firms.
        let changed: [(Character, String)] = [
            ("a", "ⱥ@"), ("b", "ƀɓƃßẞꞵ8"), ("c", "ȼƈ¢"), ("d", "đðɗƌ"), ("e", "ɇɛ℮€"), ("f", "ƒ"), ("g", "ǥɠꞡ"),
            ("h", "ħɦⱨ"), ("j", "ɉ"), ("k", "ƙⱪꝁ"), ("l", "łƚɨɫƗƖꙇǀ∣❘¦│┃"), ("m", "ɱ"), ("n", "ɲƞ"), ("o", "øɵᴑ○◯"),
            ("p", "ƥ"), ("r", "ɍɼ"), ("s", "ȿʂ$"), ("t", "ŧƭⱦ"), ("u", "ʉ"), ("v", "ʋ"), ("w", "ⱳ"), ("x", "×✕"),
            ("y", "ɏƴ¥"), ("z", "ƶʐⱬ"),
        ]
        // Rarer letters of Greek, Cyrillic and Armenian, and those with a tail or a stroke.
        let rare: [(Character, String)] = [
            ("b", "ҌҍѢѣ"), ("c", "ҁҀҫҪ"), ("d", "ԃԂ"), ("e", "ҽҼҿҾєЄԑԐ"), ("f", "ϝғҒֆ"), ("g", "ԍց"), ("h", "ңҢӈӇӊӉհ"),
            ("j", "ϳͿյ"), ("k", "ĸқҚҝҜҟҞҡҠӄӃԟԞ"), ("m", "ϺϻӎӍ"), ("n", "ոԥԤ"), ("o", "ѳѲөӨ"), ("p", "ҏҎϸϷϼ"),
            ("q", "ϙզ"), ("r", "ӷӶ"), ("t", "ҭҬ"), ("u", "иИцЦџЏ"), ("w", "ѡѠա"), ("x", "ҳҲӽӼӿӾ"), ("y", "ұҰ"),
            ("3", "зЗӡӠ"),
        ]
        // Letters and digits of other scripts that are no more than a stroke or a ring.
        let strokes: [Unicode.Scalar] = ["\u{5D5}", "\u{5DF}", "\u{627}", "\u{661}", "\u{6F1}", "\u{7CA}"]
        let rings: [Unicode.Scalar] = [
            "\u{5E1}", "\u{647}", "\u{665}", "\u{6F5}", "\u{7C0}", "\u{966}", "\u{9E6}", "\u{A66}", "\u{AE6}",
            "\u{B66}", "\u{BE6}", "\u{C66}", "\u{C82}", "\u{CE6}", "\u{D02}", "\u{D66}", "\u{E50}", "\u{ED0}",
            "\u{101D}", "\u{1040}", "\u{10FF}",
        ]
        let others: [(Character, String)] = [
            ("l", String(String.UnicodeScalarView(strokes))), ("o", String(String.UnicodeScalarView(rings))),
        ]
        return (letters + changed + rare + others).reduce(into: [:]) { all, pair in
            for scalar in pair.1.unicodeScalars { all[scalar] = pair.0 }
        }
    }()
}
