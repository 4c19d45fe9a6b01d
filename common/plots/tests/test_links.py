"""Tests of links.py: links that lead nowhere, and lines that move."""

import io
from contextlib import redirect_stderr, redirect_stdout

from common.plots.pages import links
from common.plots.tests.fixture import InFolder


class Links(InFolder):
    def test_what_leads_nowhere_is_named(self):
        (self.root / "docs").mkdir(exist_ok=True)
        (self.root / "code.cu").write_text("one\ntwo\n\nfour\n", encoding="utf-8")
        good = "[a](../code.cu) [b](../code.cu#L1-L2) [c](#two-words) [d](https://nowhere/x) [e](02.md#6-what-it-buys)"
        good += "\n<!-- pending picture: ![f](plots/not_yet.svg)\n-->"
        (self.root / "docs" / "01.md").write_text(f"# 01\n\n## Two `words`!\n\n{good}\n", encoding="utf-8")
        (self.root / "docs" / "02.md").write_text("## 6. What it buys\n", encoding="utf-8")
        links.follow(self.root)
        self.assertEqual(links.broken(self.root), [])
        bad = {
            "../gone.cu": "no such file",
            "../code.cu#L3-L4": "blank line",
            "../code.cu#L2-L5": "there are 4",
            "../code.cu#L2-L1": "there are 4",
            "02.md#6-what-it-cost": "no such heading",
        }
        text = "\n".join(f"[x]({target})" for target in bad)
        (self.root / "README.md").write_text(text.replace("../", "").replace("02.md", "docs/02.md"), encoding="utf-8")
        found = links.broken(self.root)
        self.assertEqual(len(found), len(bad), found)
        for line, (target, what) in zip(found, bad.items()):
            self.assertIn(what, line)
            self.assertTrue(line.startswith("README.md: link to "), line)


class LinesThatMove(InFolder):
    CODE = "top\nfor (a) {\n  barrier();\n}\n\nfor (b) {\n  if (c) {\n    load();\n  }\n  barrier();\n}\nend\n"

    def setUp(self):
        super().setUp()
        self.doc = self.root / "docs" / "01.md"
        self.code("")
        self.link("#L6-L11")
        self.assertEqual(links.follow(self.root), [])

    def code(self, before, change=("", "")):
        (self.root / "code.cu").write_text(before + self.CODE.replace(*change), encoding="utf-8")

    def link(self, *places):
        self.doc.write_text(" ".join(f"[x](../code.cu{place})" for place in places) + "\n", encoding="utf-8")

    def places(self):
        return [target.partition("#")[2] for target in links.LINK.findall(self.doc.read_text(encoding="utf-8"))]

    def test_their_numbers_are_rewritten(self):
        self.code("new\nnew\n")
        fault = "docs/01.md: link to ../code.cu#L6-L11: these lines are now #L8-L13"
        self.assertEqual(links.broken(self.root), [fault])
        self.assertEqual(self.places(), ["L6-L11"], "checking changes nothing")
        self.assertEqual(links.follow(self.root), ["docs/01.md: link to ../code.cu#L6-L11: now #L8-L13"])
        self.assertEqual(self.places(), ["L8-L13"])
        self.assertEqual(list(links.recorded(self.root)), ["code.cu#L8-L13"])
        self.assertEqual((links.broken(self.root), links.follow(self.root)), ([], []))

    def test_the_link_below_a_piece_of_code_is_not_looked_after_here(self):
        block = "<!-- code: code.cu a -->\n*[x](../code.cu#L1-L2)*\n<!-- /code -->\n"
        self.doc.write_text(block, encoding="utf-8")
        self.assertEqual((links.follow(self.root), links.broken(self.root), links.recorded(self.root)), ([], [], {}))

    def test_what_is_between_the_first_and_the_last_may_change(self):
        self.code("", ("    load();", "    convert();\n  }\n  if (d) {\n    load();"))
        moved = links.follow(self.root)
        self.assertEqual(moved, ["docs/01.md: link to ../code.cu#L6-L11: now #L6-L14, 9 lines, not 6"])
        self.assertEqual(self.places(), ["L6-L14"])

    def test_a_line_that_reads_as_others_is_told_from_them_by_its_neighbours(self):
        self.assertEqual(links.recorded(self.root), {"code.cu#L6-L11": ["for (b) {", "}"]})
        self.link("#L3", "#L10", "#L2-L11")
        links.follow(self.root)
        recorded = {
            "code.cu#L10": ["  barrier();\n}\nend", "  barrier();"],
            "code.cu#L2-L11": ["for (a) {", "  }\n  barrier();\n}"],
            "code.cu#L3": ["  barrier();\n}\n", "  barrier();"],
        }
        self.assertEqual(links.recorded(self.root), recorded)
        self.code("new\n" * 7)  # the first is now where the second was
        links.follow(self.root)
        self.assertEqual(self.places(), ["L10", "L17", "L9-L18"])
        self.code("", ("for (a) {\n  barrier();\n}\n", ""))
        gone = [fault for fault in links.broken(self.root) if " no '" in fault]
        self.assertEqual(["#L10:" in gone[0], "#L9-L18:" in gone[1], len(gone)], [True, True, 2])

    def test_the_nearest_of_several_is_meant(self):
        self.code(self.CODE)
        self.assertEqual(links.broken(self.root), [])
        self.code("new\n" * 13)
        links.follow(self.root)
        self.code(self.CODE)
        links.follow(self.root)
        self.assertEqual(self.places(), ["L18-L23"])

    def test_what_is_gone_is_named_until_it_is_corrected(self):
        for change in (("for (b)", "for (c)"), ("  barrier();\n}\nend", "  barrier();\n};\nend")):
            self.code("new\n", change)
            for _ in range(2):
                self.assertEqual(links.follow(self.root), [])
                self.assertEqual(self.places(), ["L6-L11"])
                (fault,) = links.broken(self.root)
                self.assertTrue(fault.startswith("docs/01.md: link to ../code.cu#L6-L11: no 'for (b) {' … '}' there"))
        self.link("#L7-L12")
        self.assertEqual(links.broken(self.root), ["docs/01.md: link to ../code.cu#L7-L12: not in docs/lines.json yet"])
        links.follow(self.root)
        self.assertEqual(links.broken(self.root), [])
        self.assertEqual(list(links.recorded(self.root)), ["code.cu#L7-L12"], "the old one is left out")

    def test_what_cannot_be_meant_is_not_recorded(self):
        self.link("#L5", "#L4-L99", "#L4-L3")
        links.follow(self.root)
        self.assertEqual((self.places(), links.recorded(self.root)), (["L5", "L4-L99", "L4-L3"], {}))

    def test_everything_else_in_a_doc_stays(self):
        text = "<!-- [x](../code.cu#L6-L11) --> [a](https://x/y#L6-L11) [b](../gone.cu#L6-L11) ../code.cu#L6-L11\n"
        self.doc.write_text(text + "[x](../code.cu#L6-L11)", encoding="utf-8")
        self.code("new\n")
        links.follow(self.root)
        self.assertEqual(self.doc.read_text(encoding="utf-8"), text + "[x](../code.cu#L7-L12)")

    def test_the_writer_fails_where_a_person_must_look(self):
        for change, status, word in (("for (b)", 0, "now #L7-L12"), ("for (c)", 1, "no 'for (b) {'")):
            self.code("new\n", ("for (b)", change))
            out = io.StringIO()
            with redirect_stdout(out), redirect_stderr(out):
                self.assertEqual(links.main(self.root), status)
            self.assertIn(word, out.getvalue())
