"""Pipelines, dumps and the events they send; what single passes do is in tests/mdtest/passes.md."""

from __future__ import annotations

import pytest

from duograph.base.config import configure
from duograph.base.events import record
from duograph.debug.opt import declare_ops, main
from duograph.ir.parser import parse
from duograph.passes.manager import pass_named
from duograph.passes.pipelines import canonicalise, compile_pipeline, optimise
from tests.unit.ir.test_interpreter import SUM_TO

declare_ops()

TEXT = """graph @main(%x: f32[3]) -> f32[3] {
  %0 = mul!1(%x, const<f32[]>1.0) : f32[3]
  %1 = mul!2(%x, const<f32[]>1.0) : f32[3]
  %2 = add!3(%0, %1) : f32[3]
  return %2
}
"""


def test_levels():
    graph = parse(TEXT)
    canonical = canonicalise(graph)
    assert len(graph.nodes) == 3 and len(canonical.nodes) == 2
    assert optimise(canonical, 0) is canonical
    assert len(optimise(canonical).nodes) == 1


def test_dumps_are_switched_at_run_time(tmp_path):
    compile_pipeline(parse(TEXT))
    with configure(save_graphs=1, save_graphs_path=str(tmp_path / "one")):
        compile_pipeline(parse(TEXT))
    with configure(save_graphs=3, save_graphs_path=str(tmp_path / "three")):
        compile_pipeline(parse(TEXT))
    one = sorted(p.name.rsplit("_", 1)[0] for p in (tmp_path / "one").iterdir())
    assert one == ["00_bootstrap", "01_canonical", "02_optimised"]
    names = {p.name.rsplit("_", 1)[0] for p in (tmp_path / "three").glob("*.ir")}
    assert names == {
        "00_bootstrap", "01_canonicalise_drop_tags", "02_canonical", "03_optimise1_simplify", "04_optimised"
    }  # fmt: skip
    assert len(list((tmp_path / "three").glob("*.dot"))) == 5
    first = next((tmp_path / "one").glob("00_*")).read_text()
    assert first.startswith("# IR entry: @main\n# Total subgraphs: 1\n") and "#   mul: 2\n" in first
    assert len(parse(first).nodes) == 3


def test_dumps_that_cannot_be_written_are_no_failure(tmp_path, caplog):
    (tmp_path / "file").touch()
    with record() as log, configure(save_graphs=3, save_graphs_path=str(tmp_path / "file")):
        assert compile_pipeline(parse(TEXT)) is not None
    assert len(log.of_kind("graphs not written")) == 1  # one for all files of a compilation
    assert "graphs of @main are not written" in caplog.text


def test_passes_are_timed_and_announced():
    with record() as log:
        compile_pipeline(parse(TEXT))
    assert ("pass drop_tags",) in log.times()
    changed = [e.data["name"] for e in log.of_kind("pass") if e.data["changed"]]
    assert "drop_tags" in changed and "arith" in changed
    assert {e.data["rule"] for e in log.of_kind("rewrite")} == {"mul_one"}


def test_recursion_is_left_alone():
    graph = parse(SUM_TO)
    with configure(verify="pass"):
        assert compile_pipeline(graph) is graph


def test_unknown_pass():
    with pytest.raises(ValueError, match="there is no pass 'nope'; there are"):
        pass_named("nope")


def test_command_line(tmp_path, capsys):
    file = tmp_path / "g.mindir"
    file.write_text(TEXT)
    assert main([str(file), "--passes", "canonicalise,simplify"]) == 0
    out = capsys.readouterr().out
    assert out == "graph @main(%x: f32[3]) -> f32[3] {\n  %0 = add(%x, %x) : f32[3]\n  return %0\n}\n"
    file.write_text(TEXT.replace("mul!1", "mull"))
    assert main([str(file)]) == 1
    assert "there is no op 'mull'" in capsys.readouterr().err
