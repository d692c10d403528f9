import InternationalText
import Testing

@Suite struct LikenessTests {
    @Test(
        "A name in letters that look alike counts as the same name",
        arguments: [
            "Aftenbladet", "ΑFTENBLADET", "Аftenblаdet", "Ａｆｔｅｎｂｌａｄｅｔ", "aften-bladet!", "Åftenbladét", "𝐀ftenbladet",
            "AftenbIadet",
            "Aften\u{200B}bladet", "ꓮꓝꓔꓰꓠꓐꓡꓮꓓꓰꓔ", "ᎪꓝᎢᎬꓠᏴᏞᎪᎠᎬᎢ", "ᴀꜰᴛᴇɴʙʟᴀᴅᴇᴛ", "Ⲁftenblⲁdet",
            "Aftenblad℮t", "Aftenbǀadet", "Aftenbłađet", "Aƒtenb∣@d€t", "Aften\u{200F}b\u{661}adet",
        ])
    func alike(_ name: String) { #expect(name.likeness == "Aftenbladet".likeness, "\(name.likeness)") }

    @Test(
        "Rarer letters of Greek and Cyrillic count as the Latin letters they look like",
        arguments: [
            ("S\u{3F2}hibsted", "Schibsted"), ("S\u{3F9}hibsted", "Schibsted"), ("\u{37F}akt", "Jakt"),
            ("Ma\u{3F3}orna", "Majorna"), ("\u{3FA}ajorna", "Majorna"), ("Sҫhibsted", "Schibsted"), ("Nҽws", "News"),
            ("Neѡs", "News"), ("Maĸt", "Makt"), ("Ѳslo", "Oslo"), ("ԍeo", "geo"), ("Хаbа\u{433}", "Xabar"),
        ])
    func rare(_ name: String, other: String) { #expect(name.likeness == other.likeness, "\(name.likeness)") }

    @Test(
        "A name followed by a small sign such as ™ counts as the name without it",
        arguments: ["Aftenbladet™", "Aftenbladet℠", "Aftenbladetª", "Aftenbladet¹", "Aftenbladetʰ", "AftenbladetⓇ"])
    func signs(_ name: String) {
        #expect(!name.likenesses.isDisjoint(with: "Aftenbladet".likenesses), "\(name.likenesses)")
        #expect(name.likenesses.isDisjoint(with: "Aftenblad".likenesses), "\(name.likenesses)")
    }

    @Test(
        "A name in superscript or circled letters counts as the plain name",
        arguments: ["ᴬᶠᵗᵉⁿ", "Ⓐⓕⓣⓔⓝ", "ᴬften", "Aft™en"])
    func small(_ name: String) { #expect(!name.likenesses.isDisjoint(with: "Aften".likenesses), "\(name.likenesses)") }

    @Test("A new name that drops a sign such as ™ is like the former name; one that adds a sign is not")
    func former() {
        #expect("ACME".isAlike("Acme") && "Acme".isAlike("Acme") && "Ac\u{200B}me.".isAlike("ACME"))
        #expect("Acme™".likeness == "AcmeTM".likeness, "at a glance")
        #expect(!"Acme™".isAlike("AcmeTM") && "Acme™".isAlike("ACME™"))
        #expect("Acme".isAlike("Acme™") && !"Acme™".isAlike("Acme"))
        #expect(!"Acme".isAlike("Rival") && !"📚".isAlike("📚") && !"".isAlike(""))
    }

    @Test("Names that look different are told apart", arguments: ["Aftenblad", "Morgenbladet", "Аftenposten", ""])
    func different(_ name: String) { #expect(name.likeness != "Aftenbladet".likeness) }

    @Test("Roman numerals, zeros and joined letters in a name count as what they look like")
    func others() {
        #expect("Loom Ⅻ".likeness == "loom XII".likeness)
        #expect("L00m".likeness == "Loom".likeness && "Coɾner".likeness != "Corner".likeness)
        #expect("Comer".likeness == "Corner".likeness)
        #expect("バス".likeness != "パス".likeness && "バス".likeness != "ハス".likeness && "कि".likeness != "की".likeness)
    }
}
