"use strict";
// The page of `duograph.jit.page`: everything it shows stands in the element "data"; text of programs is never markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const functions = [];
  const flatten = (list, depth) => list.forEach(f => { f.depth = depth; functions.push(f); flatten(f.segments, depth + 1); });
  flatten(data.functions, 0);
  const SIGNS = { compiled: "●", folded: "◌", python: "▲", plain: "–", "": "" };
  const profile = data.profile;
  const TABS = ["Summary", "Graph", "Kernels", "Guards", "Memory", "Breaks", ...profile ? ["Timeline"] : []];
  const state = { fn: 0, version: 0, stage: -1, graph: 0, tab: 0, line: null, node: null, seek: false, drawn: false, zoom: 1, word: "" };
  const by = id => document.getElementById(id);

  const make = (tag, set = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(set)) {
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (key.startsWith("aria-")) element.setAttribute(key, value);
      else if (value === true) element.setAttribute(key, "");
      else if (value !== false && value != null) element.setAttribute(key, value);
    }
    element.append(...children.filter(c => c != null));
    return element;
  };
  const drawing = (tag, set = {}, ...children) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(set)) {
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  };
  const current = () => functions[state.fn];
  const version = () => current() && current().versions[state.version];
  const short = file => file.split("/").pop();
  const isAt = (places, line) => line && places.some(([file, number]) => file === line.file && number === line.line);
  const has = text => !state.word || String(text).toLowerCase().includes(state.word);
  const amount = n => n == null ? "varies" : n < 1024 ? `${n} B` : n < 2 ** 20 ? `${(n / 1024).toFixed(1)} KiB` : `${(n / 2 ** 20).toFixed(1)} MiB`;
  const time = ms => ms >= 1000 ? `${(ms / 1000).toFixed(2)} s` : ms >= 1 ? `${ms.toFixed(2)} ms` : `${(ms * 1000).toFixed(1)} µs`;
  const place = at => at ? make("a", { onclick: () => goTo(at) }, `${short(at.file)}:${at.line}`) : "";
  const spentIn = k => {
    const spent = profile && profile.kernels[k.name];
    if (!spent) return "";
    const share = (rate, peak, what) => `${rate.toFixed(1)} ${peak.unit} (${what}: ${peak.value.toFixed(1)})`;
    const moved = spent.bytes && spent.ms ? `, ${share(spent.bytes / spent.ms / 1e6, profile.peak.bytes, "main memory")}` : "";
    const rate = spent.flops && spent.ms ? `${moved}, ${share(spent.flops / spent.ms / 1e6, profile.peak.flops, "a large product")}` : moved;
    return `${time(spent.ms)} in ${spent.calls} calls${rate}; `;
  };
  const stages = () => version() ? version().stages : [];
  const stage = () => stages().at(state.stage < 0 ? -1 : Math.min(state.stage, stages().length - 1));

  function goTo(at) {
    state.line = at;
    state.node = null;
    state.seek = true;
    show();
    const row = document.querySelector(`.row[data-line="${CSS.escape(`${at.file}:${at.line}`)}"]`);
    if (row) row.scrollIntoView({ block: "center" });
  }

  function showFunctions() {
    const nav = by("functions");
    nav.replaceChildren(...functions.map((f, i) => {
      const calls = f.versions.reduce((n, v) => n + v.hits, 0);
      const plain = f.fallbacks.reduce((n, b) => n + b.times, 0);
      const text = `${f.versions.length} version${f.versions.length === 1 ? "" : "s"}, ${calls} call${calls === 1 ? "" : "s"}` +
        (f.breaks.length ? `, ${f.breaks.length} in Python` : "") + (plain ? `, ${plain} plain` : "");
      if (!has(f.name + f.file)) return null;
      const choose = () => { Object.assign(state, { fn: i, version: 0, stage: -1, graph: 0, line: null, node: null }); show(); goTop(); };
      return make("button", { "aria-current": i === state.fn, class: f.depth ? "part" : "", onclick: choose },
        f.name, make("br"), make("small", {}, text));
    }).filter(Boolean));
  }
  function goTop() {
    const f = current();
    const row = document.querySelector(`.row[data-line="${CSS.escape(`${f.file}:${f.line}`)}"]`);
    if (row) row.scrollIntoView({ block: "start" });
  }

  function showSource() {
    const box = by("source");
    const chosen = state.node == null ? [] : nodeOf(state.node)?.at ?? [];
    const files = Object.keys(data.sources);
    const longest = profile ? Math.max(1e-9, ...Object.values(profile.lines).flatMap(f => Object.values(f).map(([ms]) => ms))) : 1;
    const own = current() ? current().file : "";
    files.sort((a, b) => (b === own) - (a === own));
    box.replaceChildren(...files.flatMap(file => [make("h2", { title: file }, file), ...data.sources[file].map(row => {
      if (row === null) return make("div", { class: "gap" }, "⋯");
      const [number, text, kind] = row;
      const spent = profile && profile.lines[file] && profile.lines[file][number];
      const isChosen = isAt([[file, number]], state.line) || chosen.some(([f, n]) => f === file && n === number);
      return make("div", {
        class: `row ${kind}${isChosen ? " chosen" : ""}`, "data-line": `${file}:${number}`, title: spent ? `${kind}: ${time(spent[0])} in ${spent[1]} operators and kernels` : kind,
        onclick: () => { Object.assign(state, { line: { file, line: number }, node: null, seek: true }); show(); },
      }, make("span", {}, String(number)), make("i", {}, SIGNS[kind]),
        ...profile ? [make("b", { style: spent ? `--share:${Math.sqrt(spent[0] / longest)}` : "" }, spent ? time(spent[0]) : "")] : [],
        make("span", {}, text || " "));
    })]));
  }

  function showTabs() {
    const tabs = TABS.map((name, i) => make("button", {
      role: "tab", "aria-selected": i === state.tab, onclick: () => { state.tab = i; show(); },
    }, name));
    const choose = make("select", { "aria-label": "Version", onchange: e => { state.version = +e.target.value; state.stage = -1; state.graph = 0; show(); } },
      ...(current() ? current().versions : []).map((v, i) => make("option", { value: i, selected: i === state.version }, `version ${i}: ${v.hits} calls`)));
    by("tabs").replaceChildren(...tabs, ...version() ? [choose] : []);
  }

  const parts = () => current().segments.length ? [
    make("p", {}, "This function is cut where it needs Python. Its compiled parts:"),
    ...current().segments.map(f => make("p", {}, make("a", { onclick: () => { Object.assign(state, { fn: functions.indexOf(f), version: 0, stage: -1, graph: 0 }); show(); } }, f.name))),
  ] : [make("p", {}, "nothing was compiled")];

  // The slowest of the lines that a function's kernels stand for.
  const slowest = f => {
    const kernels = f.versions.flatMap(v => v.kernels).filter(k => profile.kernels[k.name]?.ms);
    const own = new Set(kernels.flatMap(k => k.at.map(([file, line]) => `${file}:${line}`)));
    const lines = Object.entries(profile.lines).flatMap(([file, spent]) => Object.entries(spent).map(([line, [ms]]) => ({ file, line: +line, ms })))
      .filter(l => own.has(`${l.file}:${l.line}`)).sort((a, b) => b.ms - a.ms).slice(0, 5);
    const text = at => data.sources[at.file]?.find(row => row && row[0] === at.line)?.[1].trim() ?? "";
    return !lines.length ? [] : [make("h3", {}, "Slowest lines"), make("table", {}, ...lines.map(l => make("tr", {},
      make("td", { class: "n" }, time(l.ms)), make("td", {}, place(l)), make("td", { class: "mono" }, text(l)))))];
  };

  const PANES = {
    Summary() {
      const f = current();
      const rows = f.versions.map((v, i) => make("tr", {},
        make("td", {}, make("a", { onclick: () => { state.version = i; state.tab = 1; show(); } }, String(i))),
        make("td", { class: "n" }, String(v.hits)), make("td", { class: "n" }, String(v.native_calls)),
        make("td", { class: "n" }, String(v.stages.at(-1).graphs.reduce((n, g) => n + g.nodes.length, 0))),
        make("td", { class: "n" }, String(v.kernels.length)),
        make("td", { class: "n" }, v.capture_ms.toFixed(1)), make("td", { class: "n" }, v.compile_ms.toFixed(1)),
        make("td", {}, v.why_not_native)));
      return [
        make("h2", {}, f.name),
        profile ? make("div", { class: "why" }, profile.summary) : null,
        make("p", { class: "faint" }, "captured from ", f.from, ", ", f.file ? place({ file: f.file, line: f.line }) : ""),
        f.advice ? make("div", { class: "why" }, f.advice) : null,
        f.versions.length ? null : make("div", {}, ...parts()),
        ...profile ? slowest(f) : [],
        !f.versions.length ? null : make("table", {}, make("tr", {}, ...["version", "calls", "native", "operators", "kernels", "capture ms", "compile ms", "why not native"].map(t => make("th", {}, t))), ...rows),
        ...f.recompiles.length ? [make("h3", {}, "Recompilations: the guard that did not hold"), make("pre", {}, f.recompiles.join("\n"))] : [],
        ...f.failures.length ? [make("h3", {}, "Internal failures"), make("pre", {}, f.failures.join("\n"))] : [],
        ...f.fallbacks.length + f.breaks.length ? [make("h3", {}, "In Python"), ...PANES.Breaks()] : [],
      ];
    },
    Graph() {
      if (!version()) return parts();
      const all = stages(), at = state.stage < 0 ? all.length - 1 : Math.min(state.stage, all.length - 1), now = all[at];
      const graphs = now.graphs, part = graphs[Math.min(state.graph, graphs.length - 1)];
      const bar = make("div", { class: "bar" },
        make("span", {}, `after ${at} of ${all.length - 1} passes: `, make("b", {}, now.name)),
        make("input", { type: "range", min: 0, max: all.length - 1, value: at, "aria-label": "Pass", oninput: e => { state.stage = +e.target.value; show(); } }),
        make("span", { class: "faint" }, `${part.nodes.filter(n => n.new).length} new, ${now.gone} gone`),
        graphs.length > 1 ? make("select", { "aria-label": "Graph", onchange: e => { state.graph = +e.target.value; show(); } },
          ...graphs.map((g, i) => make("option", { value: i, selected: g === part }, `@${g.name}: ${g.nodes.length}`))) : null,
        make("button", { onclick: () => { state.drawn = !state.drawn; show(); } }, state.drawn ? "text" : "draw"),
        state.drawn ? make("button", { onclick: () => { state.zoom *= 1.25; show(); } }, "+") : null,
        state.drawn ? make("button", { onclick: () => { state.zoom /= 1.25; show(); } }, "−") : null);
      const rules = now.rules.length ? make("p", { class: "faint" }, "rules that fired: ",
        ...now.rules.flatMap(([rule, law, count]) => [make("span", { title: law }, `${rule} ×${count}`), " "])) : null;
      return [bar, rules, state.drawn ? draw(part) : textOf(part)];
    },
    Kernels() {
      if (!version()) return parts();
      const spent = k => profile?.kernels[k.name]?.ms ?? 0;
      const kernels = version().kernels.filter(k => has(k.name + k.ops.join(" "))).sort((a, b) => spent(b) - spent(a));  // as they are called, where nothing was measured
      if (!kernels.length) return [make("p", {}, "no kernel")];
      return kernels.map(k => {
        const isChosen = isAt(k.at, state.line) || (state.node != null && k.nodes.includes(state.node));
        const box = make("details", { class: isChosen ? "chosen" : "" },
          make("summary", {}, make("span", { class: "mono" }, k.name), ` `, make("span", { class: "faint" }, `${k.ops.join(", ")}; ${k.bytes === 0 ? "" : `${amount(k.bytes)}; `}${k.flops ? `${k.flops.toLocaleString("en")} flops; ` : ""}${spentIn(k)}`),
            ...k.at.flatMap(([file, line]) => [place({ file, line }), " "])));
        box.addEventListener("toggle", () => {  // the text only where it is looked at
          if (!box.open || box.children.length > 1) return;
          if (k.reason) box.append(make("div", { class: "why" }, k.reason));
          const code = data.code[k.name];
          if (!code && !k.reason) box.append(make("div", { class: "why" }, "Its code is not in the page, which is large; f.explain().kernels has it."));
          if (code) box.append(make("h4", {}, "Loop nest"), make("pre", {}, code.loops));
          if (code) box.append(make("details", {}, make("summary", {}, "LLVM text"), make("pre", {}, code.llvm)));
        });
        return box;
      });
    },
    Guards() {
      const v = version();
      if (!v) return parts();
      const groups = new Map();
      for (const guard of v.guards.filter(has)) {
        const key = guard.replace(/\[[^\]]*\]/g, "[…]").replace(/\d+/g, "n");
        groups.set(key, [...groups.get(key) ?? [], guard]);
      }
      const told = [...groups.values()].map(list => list.length === 1 ? make("div", { class: "mono" }, list[0]) :
        make("details", {}, make("summary", {}, make("span", { class: "mono" }, list[0]), make("span", { class: "faint" }, ` and ${list.length - 1} like it`)), make("pre", {}, list.join("\n"))));
      return [
        make("p", { class: "faint" }, `${v.guards.length} guards are checked at each call; where one does not hold, another version answers, or one is made.`),
        ...told, make("h3", {}, "Inputs of the graph"), make("pre", {}, v.inputs.join("\n")),
        ...current().recompiles.length ? [make("h3", {}, "Recompilations"), make("pre", {}, current().recompiles.join("\n"))] : [],
      ];
    },
    Memory() {
      const memory = version() && version().memory;
      if (!memory) return version() ? [make("p", {}, "no machine code")] : parts();
      const blocks = memory.blocks, end = Math.max(1, ...blocks.map(b => b.to)) + 1, size = Math.max(1, memory.size);
      const W = 760, H = 260;
      const svg = drawing("svg", { viewBox: `0 0 ${W} ${H}`, width: "100%", role: "img", "aria-label": "Arena over time" },
        ...blocks.map(b => drawing("rect", {
          class: "block", x: b.from / end * W, width: Math.max(2, (b.to - b.from + 1) / end * W),
          y: H - (b.at + b.bytes) / size * H, height: Math.max(1, b.bytes / size * H),
        }, drawing("title", {}, `${b.name}: ${amount(b.bytes)}, steps ${b.from} to ${b.to}`))));
      return [make("p", {}, `arena of ${amount(memory.size)}; time goes to the right, addresses up`), make("div", { class: "drawing" }, svg), make("pre", {}, memory.table)];
    },
    Breaks() {
      const f = current();
      const row = (kind, b) => make("div", { class: "why" }, make("b", {}, kind), " ", place(b.line), `: ${b.times} times, ${b.ms} ms`, make("br"), b.reason,
        b.text ? make("details", {}, make("summary", {}, "where"), make("pre", {}, b.text)) : null);
      const told = [...f.breaks.map(b => row("between compiled parts", b)), ...f.fallbacks.map(b => row("the whole call", b))];
      return told.length ? told : [make("p", {}, "everything was compiled")];
    },
    Timeline() {
      const spans = profile.spans, end = Math.max(1, ...spans.map(s => s[2] + s[3])), H = 34;
      const canvas = make("canvas", { height: profile.rows.length * H + 24, role: "img", "aria-label": "Timeline" });
      const told = make("p", { class: "mono" }, "wheel: zoom, drag: move, click: the line");
      const view = state.view ??= { from: 0, to: end };
      const X = t => (t - view.from) / (view.to - view.from) * canvas.width;
      const paint = () => {
        canvas.width = Math.max(300, canvas.parentElement ? canvas.parentElement.clientWidth - 4 : 760);
        const pen = canvas.getContext("2d"), style = getComputedStyle(document.documentElement), colour = name => style.getPropertyValue(name);
        const colours = ["--plain", "--compiled", "--folded", "--python", "--link"].map(colour);
        pen.font = "11px ui-monospace, monospace";
        for (const [row, name, begin, took] of spans) {
          const x = X(begin), w = Math.max(1, X(begin + took) - x);
          if (x > canvas.width || x + w < 0) continue;
          pen.fillStyle = colours[row];
          pen.fillRect(x, row * H + 12, w > 3 ? w - 1 : w, H - 14);
          if (w > 40) { pen.fillStyle = colour("--ground"); pen.fillText(profile.names[name].slice(0, Math.floor(w / 7)), Math.max(2, x + 3), row * H + 27); }
        }
        pen.fillStyle = colour("--faint");
        profile.rows.forEach((row, i) => pen.fillText(row, 2, i * H + 9));
        for (let i = 0; i <= 6; i++) pen.fillText(time((view.from + (view.to - view.from) * (1 - 60 / canvas.width) * i / 6) / 1000), (canvas.width - 60) * i / 6, profile.rows.length * H + 18);
      };
      const under = e => {
        const row = Math.floor(e.offsetY / H), t = view.from + e.offsetX / canvas.clientWidth * (view.to - view.from);
        return spans.findLast(s => s[0] === row && s[2] <= t && t <= s[2] + Math.max(s[3], (view.to - view.from) / canvas.width));
      };
      const place_ = s => s.length > 4 ? { file: profile.files[s[4]], line: s[5] } : null;
      canvas.addEventListener("mousemove", e => {
        const s = under(e);
        if (s) told.textContent = `${profile.names[s[1]]}: ${time(s[3] / 1000)} at ${time(s[2] / 1000)}${place_(s) ? `, ${short(place_(s).file)}:${place_(s).line}` : ""}`;
      });
      canvas.addEventListener("wheel", e => {
        e.preventDefault();
        const t = view.from + e.offsetX / canvas.clientWidth * (view.to - view.from), by_ = e.deltaY > 0 ? 1.25 : 0.8;
        view.from = Math.max(0, t - (t - view.from) * by_);
        view.to = Math.min(end, t + (view.to - t) * by_);
        paint();
      }, { passive: false });
      canvas.addEventListener("pointerdown", e => {
        let last = e.clientX, moved = 0;
        const move = m => {
          const d = Math.max(-view.from, Math.min(end - view.to, (last - m.clientX) / canvas.clientWidth * (view.to - view.from)));
          moved += Math.abs(m.clientX - last);
          last = m.clientX; view.from += d; view.to += d; paint();
        };
        const up = () => {
          removeEventListener("pointermove", move); removeEventListener("pointerup", up);
          const s = moved < 4 && under(e);
          if (s && place_(s)) goTo(place_(s));
        };
        addEventListener("pointermove", move); addEventListener("pointerup", up);
      });
      requestAnimationFrame(paint);
      return [make("p", {}, profile.summary, profile.left ? ` The first ${spans.length} events are shown, ${profile.left} are left out.` : ""), canvas, told,
        profile.memory ? make("pre", {}, profile.memory) : null];
    },
  };

  const nodeOf = id => { for (const g of stage()?.graphs ?? []) { const n = g.nodes.find(n => n.id === id); if (n) return n; } };
  const chooseNode = node => { state.node = state.node === node.id ? null : node.id; state.line = null; show(); };
  const isChosen = node => node.id === state.node || isAt(node.at, state.line);

  function textOf(part) {
    const rows = part.nodes.filter(n => has(n.op + n.type + n.attrs)).map(n => make("div", {
      class: `node${n.new ? " new" : ""}${isChosen(n) ? " chosen" : ""}`, onclick: () => chooseNode(n),
    }, `${n.name} = `, make("b", {}, n.op), `(${[...n.in, n.attrs].filter(Boolean).join(", ")}) : ${n.type}`,
      n.at.length ? make("span", { class: "faint" }, `   ${n.at.map(([f, l]) => `${short(f)}:${l}`).join(", ")}${n.layer ? ` ${n.layer}` : ""}`) : null));
    return make("div", {}, make("div", { class: "node" }, `@${part.name}(${part.params.map(p => `${p.name}: ${p.type}`).join(", ")})`), ...rows, make("div", { class: "node" }, `return ${part.output}`));
  }

  const MOST_DAGRE = 600;  // nodes that dagre lays out in a moment
  const layouts = new WeakMap();
  const layoutOf = part => {
    if (!layouts.has(part)) layouts.set(part, layOut(part));
    return layouts.get(part);
  };

  function layOut(part) {
    const boxes = new Map();
    const add = (id, lines, node) => boxes.set(id, { id, lines, node, width: Math.max(...lines.map(l => l.length)) * 6.8 + 16, height: lines.length * 14 + 10 });
    part.params.forEach(p => add(p.id, [p.name, p.type], null));
    part.nodes.forEach(n => add(n.id, [n.op, n.type.length > 40 ? `${n.type.slice(0, 39)}…` : n.type], n));
    const ends = part.nodes.flatMap(n => [...new Set(n.from)].filter(from => boxes.has(from)).map(from => [boxes.get(from), boxes.get(n.id)]));
    const lines = (part.nodes.length > MOST_DAGRE ? byRanks : byDagre)([...boxes.values()], ends);
    const edges = lines.map(points => ({
      d: "M" + points.map(p => `${p.x.toFixed(1)},${p.y.toFixed(1)}`).join("L"),
      left: Math.min(...points.map(p => p.x)), right: Math.max(...points.map(p => p.x)),
      top: Math.min(...points.map(p => p.y)), bottom: Math.max(...points.map(p => p.y)),
    }));
    const all = [...boxes.values()].map(b => Object.assign(b, { left: b.x - b.width / 2, right: b.x + b.width / 2, top: b.y - b.height / 2, bottom: b.y + b.height / 2 }));
    const end = side => Math.max(0, ...all.map(b => b[side])) + 12;
    return { boxes: all, edges, width: end("right"), height: end("bottom") };
  }

  function byDagre(boxes, ends) {
    const g = new dagre.graphlib.Graph().setGraph({ nodesep: 14, ranksep: 26, marginx: 12, marginy: 12 }).setDefaultEdgeLabel(() => ({}));
    boxes.forEach(b => g.setNode(String(b.id), { width: b.width, height: b.height }));
    ends.forEach(([from, to]) => g.setEdge(String(from.id), String(to.id)));
    dagre.layout(g);
    boxes.forEach(b => { const at = g.node(String(b.id)); b.x = at.x; b.y = at.y; });
    return g.edges().map(e => g.edge(e).points);
  }

  // One pass in the order of the graph: the rank of a node is below what it reads, its place near the middle of that.
  function byRanks(boxes, ends) {
    const reads = new Map(), ranks = [];
    ends.forEach(([from, to]) => { from.user = from.user ?? to; reads.set(to, [...reads.get(to) ?? [], from]); });
    const sources = boxes.filter(b => !reads.has(b));
    boxes.forEach(b => { b.rank = reads.has(b) ? 1 + Math.max(...reads.get(b).map(from => from.rank)) : 0; });
    sources.forEach(b => { b.rank = b.user ? b.user.rank - 1 : 0; });  // beside the first that reads it
    boxes.forEach(b => (ranks[b.rank] ??= []).push(b));
    ranks.forEach((row, rank) => {
      const wish = b => { const above = (reads.get(b) ?? reads.get(b.user) ?? []).filter(from => from.x != null); return above.length ? above.reduce((sum, from) => sum + from.x, 0) / above.length : 0; };
      let right = -Infinity;
      row.filter(b => reads.has(b)).forEach(b => { b.x = wish(b); });  // what has no operands goes beside those of its user
      row.map(b => [wish(b), b]).sort((p, q) => p[0] - q[0]).forEach(([x, b]) => {
        b.x = Math.max(x, right + 14 + b.width / 2);
        b.y = 31 + rank * 64;
        right = b.x + b.width / 2;
      });
    });
    const left = boxes.reduce((least, b) => Math.min(least, b.x - b.width / 2), 0) - 12;
    boxes.forEach(b => { b.x -= left; });
    return ends.map(([from, to]) => [{ x: from.x, y: from.y + from.height / 2 }, { x: to.x, y: to.y - to.height / 2 }]);
  }

  function draw(part) {
    const { boxes, edges, width, height } = layoutOf(part);
    const tip = drawing("defs", {}, drawing("marker", { id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, drawing("path", { d: "M0,0L8,4L0,8z", fill: "currentColor" })));
    const canvas = drawing("g");
    const svg = drawing("svg", { width: width * state.zoom, height: height * state.zoom, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Graph ${part.name}` }, tip, canvas);
    const box = make("div", { class: "drawing" }, svg);
    const shape = b => {
      const node = b.node, made = drawing("g", { transform: `translate(${b.left},${b.top})` },
        drawing("rect", { class: `box${node && node.new ? " new" : ""}${node && isChosen(node) ? " chosen" : ""}`, rx: node ? 3 : 10, width: b.width, height: b.height }),
        ...b.lines.map((line, i) => drawing("text", { x: 8, y: 15 + i * 14 }, line)));
      if (node) {
        made.addEventListener("click", () => chooseNode(node));
        made.append(drawing("title", {}, `${node.name} = ${node.op}(${[...node.in, node.attrs].filter(Boolean).join(", ")}) : ${node.type}`));
      }
      return made;
    };
    const shapes = new Map(), shapeOf = b => { if (!shapes.has(b)) shapes.set(b, shape(b)); return shapes.get(b); };
    const paint = () => {  // only what is in sight, and a bit around it
      const [x, y, w, h] = [box.scrollLeft, box.scrollTop, box.clientWidth, box.clientHeight].map(v => v / state.zoom);
      const inSight = b => b.right > x - w / 2 && b.left < x + 1.5 * w && b.bottom > y - h / 2 && b.top < y + 1.5 * h;
      canvas.replaceChildren(...edges.filter(inSight).map(e => drawing("path", { class: e.bottom - e.top > 600 ? "edge far" : "edge", "marker-end": "url(#tip)", d: e.d })), ...boxes.filter(inSight).map(shapeOf));
    };
    let isDue = false;
    const soon = () => { if (!isDue) { isDue = true; requestAnimationFrame(() => { isDue = false; paint(); }); } };
    box.addEventListener("scroll", soon);
    new ResizeObserver(soon).observe(box);
    box.start = () => { const first = boxes.find(b => b.node); if (first) box.scrollLeft = first.x * state.zoom - box.clientWidth / 2; };
    box.seek = () => {
      const found = boxes.find(b => b.node && isChosen(b.node));
      if (found) [box.scrollLeft, box.scrollTop] = [found.x * state.zoom - box.clientWidth / 2, found.top * state.zoom - 40];
    };
    return box;
  }

  function show() {
    const pane = by("pane"), tops = [by("source").scrollTop, pane.scrollTop], key = `${state.fn}/${state.tab}`;
    const kept = pane.querySelector(".drawing"), inside = kept ? [kept.scrollLeft, kept.scrollTop] : null;
    showFunctions();
    showSource();
    showTabs();
    pane.replaceChildren(...(current() ? PANES[TABS[state.tab]]() : [make("p", {}, "nothing was compiled")]).filter(Boolean));
    by("source").scrollTop = tops[0];
    if (pane.dataset.key === key) {
      pane.scrollTop = tops[1];
    }
    const drawn = pane.querySelector(".drawing");
    if (drawn && inside && pane.dataset.key === key) [drawn.scrollLeft, drawn.scrollTop] = inside;
    else if (drawn && drawn.start) drawn.start();
    if (state.seek) {  // a line was chosen: what became of it comes into sight
      state.seek = false;
      if (drawn && drawn.seek) drawn.seek();
      else pane.querySelector(".chosen")?.scrollIntoView({ block: "nearest" });
    }
    pane.dataset.key = key;
    location.replace(`#${new URLSearchParams({ f: state.fn, v: state.version, t: state.tab, s: state.stage })}`);
  }

  function step(by_) {
    const rows = [...document.querySelectorAll(".row.compiled, .row.folded, .row.python")].map(r => r.dataset.line);
    if (!rows.length) return;
    const now = state.line ? rows.indexOf(`${state.line.file}:${state.line.line}`) : by_ > 0 ? -1 : rows.length;
    const next = rows[Math.min(rows.length - 1, Math.max(0, now + by_))], cut = next.lastIndexOf(":");
    goTo({ file: next.slice(0, cut), line: +next.slice(cut + 1) });
  }

  document.addEventListener("keydown", e => {
    if (e.target.id === "search") { if (e.key === "Escape") { e.target.value = state.word = ""; e.target.blur(); show(); } return; }
    if (e.ctrlKey || e.metaKey || e.altKey || ["SELECT", "INPUT"].includes(e.target.tagName)) return;
    const last = Math.max(0, stages().length - 1), at = state.stage < 0 ? last : state.stage;
    const does = {
      ArrowDown: () => step(1), ArrowUp: () => step(-1), "/": () => by("search").focus(),
      ArrowLeft: () => { state.stage = Math.max(0, at - 1); state.tab = 1; show(); },
      ArrowRight: () => { state.stage = Math.min(last, at + 1); state.tab = 1; show(); },
      "+": () => { state.zoom *= 1.25; show(); }, "-": () => { state.zoom /= 1.25; show(); },
      Escape: () => { state.line = state.node = null; show(); },
    }[e.key] ?? (TABS[+e.key - 1] ? () => { state.tab = +e.key - 1; show(); } : null);
    if (does) { e.preventDefault(); does(); }
  });
  by("search").addEventListener("input", e => { state.word = e.target.value.toLowerCase(); show(); });
  by("grip").addEventListener("pointerdown", e => {
    const move = m => { by("source").style.width = `${Math.max(120, m.clientX - by("source").getBoundingClientRect().left)}px`; };
    const end = () => { removeEventListener("pointermove", move); removeEventListener("pointerup", end); };
    addEventListener("pointermove", move); addEventListener("pointerup", end); e.preventDefault();
  });

  const asked = new URLSearchParams(location.hash.slice(1));
  for (const [key, name] of [["f", "fn"], ["v", "version"], ["t", "tab"], ["s", "stage"]]) if (asked.has(key)) state[name] = +asked.get(key) || 0;
  if (asked.get("s") === "-1") state.stage = -1;
  state.drawn = asked.get("d") === "1";
  if (!current()) state.fn = 0;
  by("title").textContent = document.title;
  by("headline").textContent = data.headline || "";
  show();
  if (current()) goTop();
})();
