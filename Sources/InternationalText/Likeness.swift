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
