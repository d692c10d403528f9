extension String {
    /// What a reader sees of the text at a glance: texts that look alike have the same. Letters and digits without
    /// marks and case; those of other scripts, and digits, as the Latin letters that they look like.
    ///
    /// It knows the look-alikes by which names of firms are imitated, not all of Unicode Technical Standard #39.
    public var likeness: String {
        var seen = ""
        var isAfterLetterWithMarks = false
        for scalar in compatiblyDecomposed.unicodeScalars {
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

    /// The likenesses of the text, with and without small signs such as ™, ℠, Ⓡ and ª, which are letters to `likeness`.
    /// A reader passes over those behind a name, but a name may be written in them.
    public var likenesses: Set<String> {
        let withoutSigns = String(String.UnicodeScalarView(unicodeScalars.filter { !Self.isSmallSign($0) })).likeness
        return withoutSigns.isEmpty ? [likeness] : [likeness, withoutSigns]
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
        return letters.reduce(into: [:]) { all, pair in
            for scalar in pair.1.unicodeScalars { all[scalar] = pair.0 }
        }
    }()
}
