"use strict";
(async () => {
  const WORDS = {
    en: {
      pairs: "Pairs", matrix: "Matrix", names: "Hide names", language: "中文", help: "Keys", filter: "Filter by name", score: "score", left: "left", right: "right",
      ofLeft: "of left", ofRight: "of right", longest: "longest", passages: "passages", more: "Show more", back: "All pairs", previous: "Previous passage",
      next: "Next passage", threshold: "Threshold", histogram: "How alike each document is to the one most like it", graph: "Who is linked to whom",
      groups: (n, m) => `${n} group${n === 1 ? "" : "s"} of ${m} documents at or above the threshold`, list: "Ranked pairs",
      lead: (n, p) => `${n} documents, ${p} pair${p === 1 ? "" : "s"} with something in common.`, document: "Document", tokens: "tokens", bits: "bits",
      at: (i, n, t) => `Passage ${i} of ${n}, ${t} tokens`, noText: "The texts of this pair are not in this file: they would make it too large.",
      common: "What many share does not count", has: (n) => `${n} documents`, none: "No pair reaches the threshold.", shown: (a, b) => `${a} of ${b} pairs`,
      masks: ["ignored", "left out", "many share this"], explain: "The score is the share of both texts that lies inside of shared passages. It says what is equal, not who copied.",
      keys: [["↑ ↓", "choose a pair"], ["Enter", "look at it"], ["n p", "next and previous passage"], ["j k", "next and previous pair"], ["/", "filter"], ["h", "hide names"], ["m", "matrix"], ["Esc", "back"]],
      close: "Close", title: "Shared passages", matrixLead: "All documents that share something, those of a group beside each other: the stronger the colour, the more alike. Choose a field to see the pair.", size: "Larger nodes have more links. Choose one to see its pairs.",
    },
    zh: {
      pairs: "配对", matrix: "矩阵", names: "隐藏名称", language: "English", help: "按键", filter: "按名称筛选", score: "相似度", left: "左", right: "右",
      ofLeft: "占左文", ofRight: "占右文", longest: "最长", passages: "段", more: "显示更多", back: "全部配对", previous: "上一段", next: "下一段",
      threshold: "阈值", histogram: "每份文档与最相像的一份有多像", graph: "谁与谁相连", groups: (n, m) => `达到阈值的有 ${n} 组，共 ${m} 份文档`, list: "配对排名",
      lead: (n, p) => `${n} 份文档，${p} 对有相同段落。`, document: "文档", tokens: "词", bits: "比特", at: (i, n, t) => `第 ${i} 段，共 ${n} 段，${t} 词`,
      noText: "这一对的原文不在此文件中，否则文件会太大。", common: "多人共有的段落不计入", has: (n) => `${n} 份文档`, none: "没有达到阈值的配对。",
      shown: (a, b) => `${b} 对中的 ${a} 对`, masks: ["忽略", "不计入", "多人共有"], explain: "相似度是两篇文字落在相同段落中的比例。它只说明哪里相同，不说明谁抄了谁。",
      keys: [["↑ ↓", "选择配对"], ["Enter", "查看"], ["n p", "下一段、上一段"], ["j k", "下一对、上一对"], ["/", "筛选"], ["h", "隐藏名称"], ["m", "矩阵"], ["Esc", "返回"]],
      close: "关闭", title: "相同段落", matrixLead: "所有有相同段落的文档，同组相邻：颜色越浓越相像。点选一格查看该对。", size: "圆点越大，相连越多。点选可查看其配对。",
    },
  };
  const PAGE = 100;
  const packed = Uint8Array.from(atob(document.getElementById("data").textContent), (char) => char.charCodeAt(0));
  const data = JSON.parse(await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text());
  const app = document.getElementById("app");
  const state = { lang: navigator.language.startsWith("zh") ? "zh" : "en", hidden: false, threshold: data.threshold, filter: "", only: -1, shown: PAGE, row: 0, view: "pairs", pair: -1, passage: -1 };
  const t = () => WORDS[state.lang];

  const el = (tag, props = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(props)) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else if (key === "class") made.className = value;
      else if (value !== undefined && value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  };
  const svg = (tag, props = {}, ...children) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(props)) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  };
  const name = (thing) => state.hidden ? `${t().document} ${thing + 1}` : data.things[thing].name;
  const short = (thing) => { const full = name(thing); return full.length > 26 ? `…${full.slice(-25)}` : full; };
  const score = (value) => value >= 1 ? "1.00" : Math.min(value, 0.994).toFixed(2) === "0.00" ? "0.01" : Math.min(value, 0.994).toFixed(2);
  const share = (value) => value > 0 && value < 0.001 ? "0.1%" : value < 1 && value > 0.999 ? "99.9%" : `${(100 * value).toFixed(1)}%`;
  const bar = (value) => svg("svg", { class: "bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "track", width: 100, height: 8 }), svg("rect", { class: "value", width: 100 * Math.min(value, 1), height: 8 }));
  const matching = () => data.pairs.map((_, at) => at).filter((at) => {
    const [left, right, value] = data.pairs[at];
    const wanted = state.filter.toLowerCase();
    return value >= state.threshold && (state.only < 0 || left === state.only || right === state.only)
      && (!wanted || name(left).toLowerCase().includes(wanted) || name(right).toLowerCase().includes(wanted));
  });
  const go = (hash) => { if (location.hash === hash) route(); else location.hash = hash; };
  const language = (text) => { const han = (text.match(/[\u4e00-\u9fff]/g) || []).length; return han > text.length / 10 ? "zh" : ""; };

  const tools = () => el("div", { class: "tools" },
    el("button", { type: "button", "aria-pressed": String(state.view === "pairs"), onclick: () => go("#") }, t().pairs),
    el("button", { type: "button", "aria-pressed": String(state.view === "matrix"), onclick: () => go("#matrix") }, t().matrix),
    el("span", { class: "grow" }),
    el("button", { type: "button", id: "hide", "aria-pressed": String(state.hidden), onclick: () => { state.hidden = !state.hidden; draw("hide"); } }, t().names),
    el("button", { type: "button", id: "language", onclick: () => { state.lang = state.lang === "en" ? "zh" : "en"; draw("language"); } }, t().language),
    el("button", { type: "button", id: "help", onclick: help }, t().help));

  function help() {
    const dialog = el("dialog", { class: "help", onclose: () => dialog.remove() },
      el("table", { class: "figures" }, el("tbody", {}, ...t().keys.map(([key, meaning]) => el("tr", {}, el("td", {}, el("kbd", {}, key)), el("td", {}, meaning))))),
      el("form", { method: "dialog" }, el("button", {}, t().close)));
    document.body.append(dialog);
    dialog.showModal();
  }

  // The best score of each document, in twenty steps.
  function histogram() {
    const best = data.things.map(() => 0);
    for (const [left, right, value] of data.pairs) { best[left] = Math.max(best[left], value); best[right] = Math.max(best[right], value); }
    const counts = Array(20).fill(0);
    for (const value of best) counts[Math.min(19, Math.floor(value * 20))] += 1;
    const top = Math.max(...counts, 1), drawn = svg("svg", { class: "histogram", viewBox: "0 0 420 160", role: "img", "aria-label": t().histogram });
    counts.forEach((count, at) => {
      const height = count ? Math.max(2, 125 * Math.log1p(count) / Math.log1p(top)) : 0;
      drawn.append(svg("rect", { x: 10 + at * 20, y: 140 - height, width: 18, height, class: (at + 1) / 20 <= state.threshold ? "below" : "" },
        svg("title", {}, `${(at / 20).toFixed(2)}–${((at + 1) / 20).toFixed(2)}: ${count}`)));
      if (count) drawn.append(svg("text", { x: 19 + at * 20, y: 136 - height, "text-anchor": "middle" }, String(count)));
    });
    for (const value of [0, 0.5, 1]) drawn.append(svg("text", { x: 10 + value * 398, y: 156, "text-anchor": value === 1 ? "end" : value ? "middle" : "start" }, value.toFixed(1)));
    return drawn;
  }

  // Documents as nodes, pairs as springs: laid out once for each set of links, with a fixed beginning, so that it is always the same.
  function layout(nodes, links) {
    const place = new Map(nodes.map((node, at) => [node, { x: 300 + 200 * Math.cos(at * 2.4) * Math.sqrt((at + 1) / nodes.length), y: 190 + 140 * Math.sin(at * 2.4) * Math.sqrt((at + 1) / nodes.length) }]));
    const steps = nodes.length > 250 ? 40 : 140, far = Math.sqrt(600 * 380 / Math.max(nodes.length, 1));
    for (let step = 0; step < steps; step += 1) {
      const heat = 12 * (1 - step / steps), force = new Map(nodes.map((node) => [node, { x: 0, y: 0 }]));
      for (let i = 0; i < nodes.length; i += 1) for (let j = 0; j < i; j += 1) {
        const a = place.get(nodes[i]), b = place.get(nodes[j]), dx = a.x - b.x || 0.01, dy = a.y - b.y || 0.01, distance = Math.max(dx * dx + dy * dy, 4);
        if (distance > 25 * far * far) continue;
        const push = far * far / distance, f = force.get(nodes[i]), g = force.get(nodes[j]);
        f.x += dx * push / Math.sqrt(distance); f.y += dy * push / Math.sqrt(distance); g.x -= dx * push / Math.sqrt(distance); g.y -= dy * push / Math.sqrt(distance);
      }
      for (const [left, right, value] of links) {
        const a = place.get(left), b = place.get(right), dx = a.x - b.x, dy = a.y - b.y, pull = Math.hypot(dx, dy) / far * (0.3 + value), f = force.get(left), g = force.get(right);
        f.x -= dx * pull / 4; f.y -= dy * pull / 4; g.x += dx * pull / 4; g.y += dy * pull / 4;
      }
      for (const node of nodes) {
        const at = place.get(node), f = force.get(node), long = Math.hypot(f.x, f.y) || 1;
        at.x = Math.min(585, Math.max(15, at.x + f.x / long * Math.min(long, heat) + (300 - at.x) * 0.01));
        at.y = Math.min(365, Math.max(15, at.y + f.y / long * Math.min(long, heat) + (190 - at.y) * 0.01));
      }
    }
    return place;
  }

  // Documents that links connect, directly or through others: the largest group first.
  function groupsOf(links) {
    const leader = new Map();
    const find = (node) => {
      if (!leader.has(node)) leader.set(node, node);
      while (leader.get(node) !== node) { leader.set(node, leader.get(leader.get(node))); node = leader.get(node); }
      return node;
    };
    for (const [left, right] of links) leader.set(find(left), find(right));
    const groups = new Map();
    for (const node of [...leader.keys()].sort((a, b) => a - b)) { const top = find(node); groups.set(top, [...(groups.get(top) || []), node]); }
    return [...groups.values()].sort((a, b) => b.length - a.length);
  }

  function graph() {
    const links = data.pairs.filter(([, , value]) => value >= state.threshold).slice(0, 1500);
    const degree = new Map();
    for (const [left, right] of links) { degree.set(left, (degree.get(left) || 0) + 1); degree.set(right, (degree.get(right) || 0) + 1); }
    const nodes = [...degree.keys()].sort((a, b) => a - b);
    const groups = groupsOf(links).length, place = layout(nodes, links), labels = nodes.length <= 30;
    const drawn = svg("svg", { class: "graph", viewBox: "0 0 600 380", role: "img", "aria-label": t().groups(groups, nodes.length) });
    for (const [left, right, value] of links) {
      const a = place.get(left), b = place.get(right);
      drawn.append(svg("line", { class: "edge", x1: a.x, y1: a.y, x2: b.x, y2: b.y, "stroke-width": 0.6 + 4 * value, "stroke-opacity": 0.3 + 0.6 * value }));
    }
    for (const node of nodes) {
      const at = place.get(node), pick = () => { state.only = state.only === node ? -1 : node; draw(); };
      drawn.append(svg("circle", { class: "node", cx: at.x, cy: at.y, r: 4 + Math.min(6, Math.sqrt(degree.get(node))), onclick: pick }, svg("title", {}, name(node))));
      if (labels || node === state.only) drawn.append(svg("text", { x: at.x + (at.x > 420 ? -9 : 9), y: at.y + 4, "text-anchor": at.x > 420 ? "end" : "start" }, short(node)));
    }
    return [drawn, el("p", { class: "soft" }, `${t().groups(groups, nodes.length)}. ${t().size}`)];
  }

  function list() {
    const found = matching(), shown = found.slice(0, state.shown);
    state.row = Math.min(state.row, Math.max(shown.length - 1, 0));
    const rows = shown.map((at, row) => {
      const [left, right, value, ofLeft, ofRight, , passages] = data.pairs[at];
      const longest = passages.length ? passages[0][6] : 0;
      return el("tr", { tabindex: row === state.row ? "0" : "-1", "data-row": row, "aria-selected": String(row === state.row), onclick: () => go(`#pair/${at}`) },
        el("td", { class: "n" }, score(value)), el("td", {}, bar(value)), el("td", {}, el("bdi", {}, name(left))), el("td", {}, el("bdi", {}, name(right))),
        el("td", { class: "n", "data-name": t().ofLeft }, share(ofLeft)), el("td", { class: "n", "data-name": t().ofRight }, share(ofRight)),
        el("td", { class: "n", "data-name": t().passages }, String(passages.length)), el("td", { class: "n", "data-name": t().longest }, String(longest)));
    });
    const heads = [t().score, "", t().left, t().right, t().ofLeft, t().ofRight, t().passages, t().longest];
    return [
      el("p", { class: "soft", role: "status" }, t().shown(found.length, data.total)),
      rows.length ? el("table", { class: "list pairs" }, el("thead", {}, el("tr", {}, ...heads.map((head, at) => el("th", { class: at === 0 || at > 3 ? "n" : "" }, head)))), el("tbody", {}, ...rows)) : el("p", {}, t().none),
      found.length > shown.length ? el("button", { type: "button", onclick: () => { state.shown += PAGE; refresh(); } }, t().more) : null,
    ].filter(Boolean);
  }

  function refresh() {
    document.getElementById("list").replaceChildren(...list());
    document.getElementById("plots").replaceChildren(histogram());
    document.getElementById("graph").replaceChildren(...graph());
    document.getElementById("value").textContent = state.threshold.toFixed(2);
  }

  function overview() {
    const slider = el("input", { type: "range", id: "threshold", min: 0, max: 1, step: 0.01, value: state.threshold, oninput: (event) => { state.threshold = Number(event.target.value); state.shown = PAGE; refresh(); } });
    const filter = el("input", { type: "search", id: "filter", placeholder: t().filter, "aria-label": t().filter, oninput: (event) => { state.filter = event.target.value; document.getElementById("list").replaceChildren(...list()); } });
    filter.value = state.filter;
    return [
      el("div", { class: "overview" },
        el("section", {}, el("h2", {}, t().histogram), el("div", { id: "plots" }, histogram()),
          el("label", {}, `${t().threshold} `, el("b", { id: "value" }, state.threshold.toFixed(2)), slider), el("p", { class: "soft" }, t().explain)),
        el("section", {}, el("h2", {}, t().graph), el("div", { id: "graph" }, ...graph()))),
      el("section", {}, el("h2", {}, t().list), el("div", { class: "tools" }, filter), el("div", { id: "list" }, ...list())),
      data.common.length ? el("section", {}, el("h2", {}, t().common), el("details", {}, el("summary", {}, String(data.common.length)),
        el("ul", {}, ...data.common.map(([count, text]) => el("li", {}, `${t().has(count)}: `, el("q", {}, text)))))) : null,
      data.notes.length ? el("section", { class: "notes" }, el("ul", {}, ...data.notes.map((note) => el("li", {}, note)))) : null,
    ].filter(Boolean);
  }

  function matrix() {
    const order = groupsOf(data.pairs).flat(), at = new Map(order.map((thing, number) => [thing, number])), size = order.length;
    if (!size) return [el("p", {}, t().none)];
    const cell = Math.max(2, Math.min(24, Math.floor(900 / size))), canvas = el("canvas", { class: "matrix", width: size * cell, height: size * cell, tabindex: "0", role: "img", "aria-label": t().matrixLead });
    const pen = canvas.getContext("2d"), style = getComputedStyle(document.documentElement), where = new Map();
    pen.fillStyle = style.getPropertyValue("--accent");
    data.pairs.forEach(([first, second, value], number) => {
      const left = at.get(first), right = at.get(second);
      pen.globalAlpha = 0.15 + 0.85 * value;
      pen.fillRect(left * cell, right * cell, cell, cell);
      pen.fillRect(right * cell, left * cell, cell, cell);
      where.set(left * size + right, number).set(right * size + left, number);
    });
    pen.globalAlpha = 1;
    pen.fillStyle = style.getPropertyValue("--line");
    for (let number = 0; number < size; number += 1) pen.fillRect(number * cell, number * cell, cell, cell);
    const said = el("p", { role: "status" }, "\u00a0");
    const field = (event) => [Math.floor(event.offsetX / cell), Math.floor(event.offsetY / cell)];
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = field(event), found = where.get(y * size + x), inside = x < size && y < size && x >= 0 && y >= 0;
      said.textContent = inside ? `${name(order[y])} · ${name(order[x])}${found === undefined ? "" : `: ${score(data.pairs[found][2])}`}` : "\u00a0";
    });
    canvas.addEventListener("click", (event) => { const [x, y] = field(event), found = where.get(y * size + x); if (found !== undefined) go(`#pair/${found}`); });
    return [el("p", { class: "soft" }, t().matrixLead), said, el("div", { class: "scroll" }, canvas)];
  }

  // A text with its passages marked. Spans are code points; where passages overlap, the longer one is marked first.
  function side(which) {
    const pair = data.pairs[state.pair], thing = data.things[pair[which]], own = which ? 3 : 0;
    const box = el("div", { class: `side${data.kind === "code" ? " source" : ""}`, tabindex: "0", role: "region", "aria-label": name(pair[which]) });
    (thing.parts || []).forEach((part, number) => {
      const points = [...part.text], owner = new Int32Array(points.length).fill(-1);
      pair[6].forEach((passage, at) => {
        if (passage[own] !== number) return;
        for (let place = passage[own + 1]; place < passage[own + 2]; place += 1) if (owner[place] < 0) owner[place] = at;
      });
      for (const [where, start, end, why] of thing.masks) if (where === number) for (let place = start; place < end; place += 1) if (owner[place] < 0) owner[place] = -2 - why;
      const shown = el("pre", { dir: "auto", lang: language(part.text.slice(0, 2000)) });
      for (let from = 0; from < points.length;) {
        let to = from + 1;
        while (to < points.length && owner[to] === owner[from]) to += 1;
        const text = points.slice(from, to).join(""), passage = owner[from];
        const before = from > 0 && passage >= 0 && pair[6][passage][own + 1] < from;
        if (passage >= 0) shown.append(el("mark", { class: passage % 2 ? "odd" : "", "data-passage": passage, "data-n": before ? null : passage + 1, onclick: () => choose(passage, which) }, text));
        else if (passage < -1) shown.append(el("span", { class: "ignored", title: t().masks[-2 - passage] }, text));
        else shown.append(text);
        from = to;
      }
      const label = state.hidden || !part.name ? name(pair[which]) : part.name;
      box.append(el("h3", {}, el("bdi", {}, thing.parts.length > 1 && state.hidden ? `${label} (${number + 1})` : label)), shown);
    });
    return box;
  }

  function choose(number, from) {
    const passages = data.pairs[state.pair][6];
    if (!passages.length) return;
    state.passage = (number + passages.length) % passages.length;
    for (const mark of app.querySelectorAll("mark.hot")) mark.classList.remove("hot");
    app.querySelectorAll(".side").forEach((box, which) => {
      const marks = box.querySelectorAll(`mark[data-passage="${state.passage}"]`);
      for (const mark of marks) mark.classList.add("hot");
      if (marks.length && which !== from) box.scrollTop += marks[0].getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 3;
    });
    app.querySelectorAll(".chips button").forEach((chip, at) => chip.setAttribute("aria-pressed", String(at === state.passage)));
    document.getElementById("status").textContent = t().at(state.passage + 1, passages.length, passages[state.passage][6]);
  }

  function pairView() {
    const [left, right, value, ofLeft, ofRight, , passages] = data.pairs[state.pair];
    const chips = el("div", { class: "chips" }, ...passages.map((passage, at) =>
      el("button", { type: "button", "aria-pressed": "false", title: `${passage[7]} ${t().bits}`, onclick: () => choose(at) }, `${at + 1} · ${passage[6]} ${t().tokens}`)));
    const known = data.things[left].parts && data.things[right].parts;
    return [
      el("div", { class: "tools" },
        el("button", { type: "button", onclick: () => go("#") }, `← ${t().back}`),
        el("button", { type: "button", onclick: () => choose(state.passage - 1) }, t().previous),
        el("button", { type: "button", onclick: () => choose(state.passage + 1) }, t().next),
        el("span", { id: "status", role: "status", class: "soft" })),
      el("section", { class: "verdict" }, el("p", { class: "score" }, el("b", {}, score(value)), el("span", {}, el("bdi", {}, name(left)), " · ", el("bdi", {}, name(right)), ` · ${share(ofLeft)} / ${share(ofRight)}`))),
      chips,
      known ? el("div", { class: "two" }, side(0), side(1)) : el("p", {}, t().noText),
    ];
  }

  function draw(focus) {
    document.documentElement.lang = state.lang;
    const content = state.view === "pair" ? pairView() : state.view === "matrix" ? matrix() : overview();
    app.replaceChildren(el("h1", {}, data.title || t().title), el("p", { class: "soft" }, t().lead(data.things.length, data.total)), tools(), ...content);
    if (state.view === "pair" && data.pairs[state.pair][6].length) choose(Math.max(state.passage, 0));
    if (focus) document.getElementById(focus)?.focus();
  }

  function route() {
    const [view, at] = location.hash.slice(1).split("/");
    const was = state.view;
    state.view = view === "matrix" ? "matrix" : view === "pair" && data.pairs[Number(at)] ? "pair" : "pairs";
    if (state.view === "pair" && state.pair !== Number(at)) { state.pair = Number(at); state.passage = -1; }
    draw();
    if (state.view !== "pairs") scrollTo(0, 0);
    else if (was === "pair") app.querySelector(`[data-row="${state.row}"]`)?.focus();
  }

  function select(row) {
    const rows = app.querySelectorAll("[data-row]");
    if (!rows.length) return;
    state.row = Math.min(Math.max(row, 0), rows.length - 1);
    rows.forEach((each, at) => { each.setAttribute("aria-selected", String(at === state.row)); each.tabIndex = at === state.row ? 0 : -1; });
    rows[state.row].focus();
  }

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog")) return;
    const typing = event.target instanceof HTMLInputElement;
    if (event.key === "Escape") { if (typing) event.target.blur(); else if (state.only >= 0 && state.view === "pairs") { state.only = -1; draw(); } else go("#"); return; }
    if (typing) return;
    const found = state.view === "pair" ? matching() : [];
    const beside = (step) => { const at = found.indexOf(state.pair) + step; if (at >= 0 && at < found.length) { state.row = at; go(`#pair/${found[at]}`); } };
    const keys = {
      n: () => state.view === "pair" && choose(state.passage + 1), p: () => state.view === "pair" && choose(state.passage - 1), j: () => beside(1), k: () => beside(-1),
      h: () => { state.hidden = !state.hidden; draw(); }, m: () => go(state.view === "matrix" ? "#" : "#matrix"), "?": help,
      "/": () => { go("#"); document.getElementById("filter")?.focus(); },
      ArrowDown: () => state.view === "pairs" && select(event.target.closest?.("[data-row]") ? state.row + 1 : state.row),
      ArrowUp: () => state.view === "pairs" && select(state.row - 1),
      Enter: () => { const row = event.target.closest?.("[data-row]"); if (row) row.click(); },
    };
    const act = keys[event.key];
    if (!act || (event.key === "Enter" && !event.target.closest?.("[data-row]")) || (event.key.startsWith("Arrow") && state.view !== "pairs")) return;
    event.preventDefault();
    act();
  });
  addEventListener("hashchange", route);
  route();
})();
