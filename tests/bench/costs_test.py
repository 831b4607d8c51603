"""The pure parts of costs: sums, table, chart, what is counted. Neither root nor a container is needed."""
import json
import os
import random
import tempfile
import unittest
import xml.dom.minidom

from costs import chart, configurations, store, sums, table


def run(number, configuration, wall, watch=None):
    return {"round": number, "configuration": configuration, "wall_ns": wall * 1000000, "cpu_ns": 50 * 1000000, "watch_ns": watch}


def workload(rounds=15, again=100, guard=102, **more):
    runs = []
    for number in range(rounds):
        runs += [run(number, "plain", 99), run(number, "plain", 101), run(number, "again", again), run(number, "guard", guard, 1000000)]
    return {"title": "some work", "counts": {"execs": 2, "opens": 9}, "runs": runs, "pss_kb": {"guard": 1024},
            "seen": {"guard": {"runs": 16, "execs": 32, "events": 48}}, **more}


def piece(**workloads):
    return {"version": "1", "machine": "a machine", "date": "today", "size": "tiny", "rounds": 15, "absent": {"auditd": "is not there"}, "workloads": workloads}


class Order(unittest.TestCase):
    def test_the_baseline_is_in_every_third_slot_and_each_other_once(self):
        names = ["plain", "again", "guard", "record", "strict"]
        orders = [sums.order(names, random.Random(seed)) for seed in range(20)]
        for slots in orders:
            self.assertEqual([place for place, name in enumerate(slots) if name == "plain"], [0, 3])
            self.assertEqual(sorted(set(slots)), sorted(names))
            self.assertEqual(len(slots), len(names) + 1)
            self.assertEqual(slots.count("plain"), sums.baselines_of(names))
        self.assertGreater(len(set(map(tuple, orders))), 1)


class Sums(unittest.TestCase):
    def test_a_ratio_is_to_the_baseline_of_its_own_round(self):
        runs = [run(0, "plain", 100), run(0, "guard", 110), run(1, "plain", 200), run(1, "guard", 220), run(2, "plain", 50), run(2, "guard", 60)]
        self.assertEqual([round(value, 3) for value in sums.ratios(runs, "guard")], [1.1, 1.1, 1.2])
        self.assertAlmostEqual(sums.geometric_mean([2, 8]), 4)

    def test_a_cell_has_all_that_belongs_to_it(self):
        found = sums.cell(workload(), "guard")
        self.assertAlmostEqual(found["ratio"]["median"], 1.02)
        self.assertAlmostEqual(found["watch_share"], 0.02)
        self.assertEqual((found["rounds"], found["events"], found["pss_kb"], found["missed"]), (15, 3, 1024, ""))
        self.assertAlmostEqual(found["processor"]["median"], 1.02)
        self.assertTrue(found["stands"] and found["even"] and found["enough"])

    def test_an_uneven_pair_is_no_result(self):
        found = sums.cell(workload(again=103), "guard")
        self.assertFalse(found["even"] or found["stands"])
        summary = sums.summary([piece(some=workload(again=103))])
        self.assertIsNone(summary["means"]["guard"]["ratio"])
        self.assertIsNone(next(entry for entry in summary["limits"] if entry["words"] == "guard, geometric mean")["holds"])
        self.assertIn("No result", table.document([piece(some=workload(again=103))], summary, "x.svg"))

    def test_without_a_pair_there_is_no_result(self):
        runs = [run(0, "plain", 100), run(0, "guard", 100)]
        self.assertFalse(sums.cell(workload() | {"runs": runs}, "guard")["stands"])

    def test_a_small_difference_needs_many_rounds(self):
        self.assertFalse(sums.cell(workload(rounds=14), "guard")["enough"])
        self.assertTrue(sums.cell(workload(rounds=3, guard=106), "guard")["enough"])

    def test_who_saw_less_has_failed(self):
        found = sums.cell(workload(seen={"guard": {"runs": 16, "execs": 31, "events": 31}}), "guard")
        self.assertEqual(found["missed"], "31 of 32 execs")
        self.assertFalse(found["stands"])
        self.assertEqual(sums.missed("strict", {"opens": 9}, {"runs": 2, "opens": 18, "refused": 1}), "1 refused")
        self.assertEqual(sums.missed("record", {"files": 5, "fresh": 2}, {"runs": 3, "files": 5, "fresh": 6}), "")
        self.assertEqual(sums.missed("plain", {"opens": 9}, {}), "")
        self.assertEqual(sums.missed("guard", {"execs": 1}, {}), "nothing is known of what it saw")

    def test_a_later_slice_replaces_and_keeps_the_rest(self):
        first, second = piece(some=workload(guard=120), other=workload()), piece(some=workload(guard=105))
        summary = sums.summary([first, second])
        self.assertAlmostEqual(summary["workloads"]["some"]["cells"]["guard"]["ratio"]["median"], 1.05)
        self.assertAlmostEqual(summary["workloads"]["other"]["cells"]["guard"]["ratio"]["median"], 1.02)
        self.assertEqual(summary["absent"], {"auditd": "is not there"})

    def test_limits_are_held_against_what_stands(self):
        limits = {entry["words"]: entry for entry in sums.summary([piece(some=workload(guard=112))])["limits"]}
        self.assertIs(limits["guard, geometric mean"]["holds"], False)
        self.assertEqual((limits["guard, any workload"]["holds"], limits["guard, any workload"]["where"]), (False, "some"))
        self.assertIs(limits["monitor, MB of PSS after the work"]["holds"], True)
        self.assertIsNone(limits["strict, geometric mean"]["holds"])


class Shown(unittest.TestCase):
    def test_the_table_says_what_was_found_and_what_was_not_measured(self):
        text = table.document([piece(some=workload())], sums.summary([piece(some=workload())]), "x.svg")
        self.assertIn("| some work | 100.0 ms | 1.00 (1.00 to 1.00) | 1.02 (1.02 to 1.02) |", text)
        self.assertIn("- auditd: is not there", text)
        self.assertIn("Every A/A pair is within 2%", text)
        for block in text.split("\n\n"):
            if block.startswith("|"):
                self.assertEqual(len({line.count("|") for line in block.splitlines()}), 1, block)

    def test_the_chart_is_well_formed_and_has_each_figure(self):
        slow = workload()
        slow["title"], slow["runs"] = "slow & <slower>", slow["runs"] + [run(number, "strace", 900) for number in range(15)]
        slow["seen"]["strace"] = {"runs": 15, "opens": 200, "execs": 30, "events": 300}
        text = chart.document(sums.summary([piece(some=workload(), slow=slow)]))
        document = xml.dom.minidom.parseString(text)
        words = [node.firstChild.data for node in document.getElementsByTagName("text")]
        for word in ("1.02", "9.00", "some work", "slow & <slower>", "geometric mean"):
            self.assertIn(word, words)
        self.assertIn("prefers-color-scheme:dark", text)

    def test_the_files_can_be_made_again_from_the_json(self):
        with tempfile.TemporaryDirectory() as folder:
            text = store.save(folder, "x", [piece(some=workload())])
            slices = store.load(os.path.join(folder, "x.json"), "tiny")
            self.assertEqual(store.save(folder, "x", slices), text)
            self.assertEqual(sorted(os.listdir(folder)), ["x.json", "x.md", "x.svg"])
            with self.assertRaises(ValueError):
                store.load(os.path.join(folder, "x.json"), "full")
            with open(os.path.join(folder, "x.json"), encoding="utf-8") as file:
                self.assertEqual(json.load(file)["format"], store.FORMAT)


class Counted(unittest.TestCase):
    def test_a_folded_record_counts_for_what_it_stands_for(self):
        def record(kind, result="allow", **payload):
            return {"event_type": kind, "payload": payload, "verdict": {"result": result}}
        seen = configurations.count_trace([
            record("filesystem", op="open", path="/a"), record("filesystem", op="open", path="/a", count=7),
            record("filesystem", op="create", path="/b"), record("filesystem", op="delete", path="/b", result="deny"),
            record("process", op="exec", path="/c", count=2), record("process", op="exit", path="/c"),
            record("network_egress", state="attempt"), record("network_egress", state="closed"),
            record("sensor", name="sink", lost=3), record("lifecycle", op="stop")])
        self.assertEqual(seen, {"events": 15, "opens": 11, "files": 2, "fresh": 2, "creates": 1, "execs": 2, "flows": 1, "refused": 1, "lost": 3})

    def test_lines_of_strace_are_counted_once_each(self):
        strace = configurations.Strace("strace")
        strace.seen = {"events": 0, "opens": 0, "execs": 0, "flows": 0}
        for text in ('12 openat(AT_FDCWD, "/a", O_RDONLY) = 3', "12 openat2(AT_FDCWD <unfinished ...>", "12 <... openat2 resumed>) = 3", '7   execve("/b", [], []) = 0',
                     '7 execveat(3, "", [], []) = 0', "7 connect(3, {sa_family=AF_INET}, 16) = 0", "7 unlinkat(AT_FDCWD, \"c\", 0) = 0", "7 +++ exited with 0 +++",
                     '7 creat("/d", 0644) = 4', '7 open("/e", 0) = 5'):
            strace.count(text)
        self.assertEqual(strace.seen, {"events": 8, "opens": 4, "execs": 2, "flows": 1})


if __name__ == "__main__":
    unittest.main()
