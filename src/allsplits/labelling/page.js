"use strict";
// The page asks this server and nobody else. Whatever comes from it is put in as text, never as HTML.
(function () {
  const byId = (id) => document.getElementById(id);
  // Letters of the commands are no keys of classes.
  const KEYS = Array.from("1234567890abdfgijklmopqrtvwxyz");
  const MORE_WORDS = { "go on": "Worth going on.", unsure: "Perhaps enough: the gain is probably small, but that is not certain.",
    stop: "You could stop: more labels are expected to bring very little." };

  let state = null;      // how far things are
  let question = null;   // the sample on the screen
  let keys = [];         // of the classes
  let busy = false;      // an answer is on its way
  let pressed = 0;       // when the key was pressed that brought this sample
  const pictures = new Map();  // pictures that were loaded beforehand, by row

  const session = remembered(sessionStorage, "allsplits-session", () => token(12));
  const who = byId("who");
  who.value = remembered(localStorage, "allsplits-name", () => "");
  who.addEventListener("change", () => keep(localStorage, "allsplits-name", who.value.trim()));

  function remembered(storage, name, make) {
    try {
      const found = storage.getItem(name);
      if (found !== null) return found;
    } catch (refused) { /* storage may be switched off */ }
    const value = make();
    keep(storage, name, value);
    return value;
  }
  function keep(storage, name, value) {
    try { storage.setItem(name, value); } catch (refused) { /* storage may be switched off */ }
  }
  function token(bytes) {
    return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (b) => b.toString(16).padStart(2, "0")).join("");
  }
  function make(tag, text, className) {
    const made = document.createElement(tag);
    if (text !== undefined && text !== null) made.textContent = text;
    if (className) made.className = className;
    return made;
  }
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const percent = (value, digits) => {
    const text = (100 * value).toFixed(digits === undefined ? 1 : digits);
    return (text === "100.0" && value < 1 ? ">99.9" : text) + "\u00a0%";
  };
  const points = (value) => (100 * value).toFixed(1);
  const number = (value) => value.toLocaleString("en");

  // ------------------------------------------------------------ talking to the server

  // A server that takes a request and never answers (it was killed, the machine slept) counts as none.
  async function ask(path, body) {
    const options = { headers: { "X-Allsplits": "1" }, credentials: "same-origin", cache: "no-store",
      signal: AbortSignal.timeout(20000) };
    if (body) {
      options.method = "POST";
      options.headers["Content-Type"] = "application/json";
      options.body = JSON.stringify(body);
    }
    const answer = await fetch(path, options);
    const kind = answer.headers.get("content-type") || "";
    const found = kind.startsWith("application/json") ? await answer.json() : { error: await answer.text() };
    if (!answer.ok) throw Object.assign(new Error(found.error), { status: answer.status });
    return found;
  }

  // Until the server has said that it kept an answer, it is sent again: with the same mark, so that it counts once.
  async function askUntilHeard(path, body) {
    for (let wait = 300; ; wait = Math.min(2 * wait, 5000)) {
      try {
        return await ask(path, body);
      } catch (error) {
        if (error.status) throw error;
        trouble("The server does not answer. Your answer is kept here and sent again; do not close the page.");
        await pause(wait);
      }
    }
  }

  async function work(action) {
    if (busy) return;
    busy = true;
    try {
      await action();
    } catch (error) {
      trouble(error.message || String(error));
      if (error.status === 409) await refresh();
    } finally {
      busy = false;
    }
  }

  async function refresh() { show(await ask("/api/next?session=" + session)); }

  const answer = (label) => work(async () => {
    if (!question) return;
    const asked = question;
    const found = await askUntilHeard("/api/answer", { row: asked.row, seen: asked.seen, label: label, session: session,
      who: who.value.trim(), reason: asked.reason, nonce: session + token(8) });
    trouble("");
    say(name(asked) + (label === null ? " skipped." : ": " + label + "."));
    show(found);
    list();
  });
  const undo = () => work(async () => {
    const found = await ask("/api/undo", { session: session, who: who.value.trim() });
    trouble("");
    say("Taken back.");
    show(found);
    list();
  });
  const look = (row) => work(async () => {
    trouble("");
    show(await ask("/api/sample?row=" + row));
    byId("question").scrollIntoView({ block: "start" });
    byId("what").tabIndex = -1;
    byId("what").focus({ preventScroll: true });
  });
  const back = () => work(refresh);

  function say(text) { byId("said").textContent = text; }
  function trouble(text) { byId("trouble").textContent = text; }

  // ------------------------------------------------------------ the sample

  const name = (sample) => sample.name || "Sample " + sample.row;

  function picture(row, label) {
    const image = pictures.get(row) || new Image();
    pictures.delete(row);
    image.alt = label;
    image.addEventListener("load", () => soften(image));
    image.addEventListener("error", () => {
      const text = make("p", "The picture cannot be shown.", "quiet");
      if (image.parentNode) image.replaceWith(text);
    });
    if (!image.src) image.src = "/picture/" + row;
    if (image.complete && image.naturalWidth) soften(image);
    return image;
  }
  function soften(image) { image.classList.toggle("small", image.naturalWidth <= 64); }

  function show(found) {
    if (found.state) follow(found.state);
    question = found.question;
    (found.ahead || []).forEach(function (row) {
      if (!pictures.has(row) && question && question.picture) {
        const image = new Image();
        image.src = "/picture/" + row;
        pictures.set(row, image);
      }
    });
    while (pictures.size > 12) pictures.delete(pictures.keys().next().value);
    const place = byId("sample");
    place.replaceChildren();
    byId("back").hidden = !(question && (question.reason === "again" || question.reason === "chosen"));
    byId("actions").hidden = byId("classes").hidden = !question;
    if (!question) {
      byId("what").textContent = "Nothing is left to ask";
      byId("why").textContent = "Every sample is labelled, skipped, or on somebody else's screen.";
      byId("before").hidden = true;
      explain(null);
      return;
    }
    byId("what").textContent = name(question);
    byId("why").textContent = because(question);
    const earlier = question.answer;
    byId("before").hidden = !earlier;
    if (earlier) {
      byId("before").textContent = (earlier.label === null ? "Skipped" : "Labelled " + earlier.label) + " by " +
        (earlier.who || "somebody") + ", " + when(earlier.at) + ". Answering changes it, the same answer confirms it.";
    }
    if (question.picture) place.append(picture(question.row, name(question)));
    if (question.text !== null) {
      const text = make("p", question.text, "text");
      text.tabIndex = 0;
      place.append(text);
    }
    if (question.columns.length) place.append(table(question));
    byId("classes").querySelectorAll("button").forEach(function (button) {
      button.classList.toggle("now", Boolean(earlier) && button.dataset.label === earlier.label);
    });
    explain(question);
    painted(place.querySelector("img"));
  }

  async function painted(image) {
    const start = pressed;
    pressed = 0;
    if (image) await image.decode().catch(() => undefined);
    requestAnimationFrame(() => {
      if (start) document.body.dataset.delay = String(performance.now() - start);
    });
  }

  function table(sample) {
    const box = make("div", null, "table");
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "What is known of the sample");
    const rows = make("dl", null, "columns");
    sample.columns.forEach(function (pair) {
      const row = make("div");
      row.append(make("dt", pair[0]), make("dd", pair[1] === "" ? "–" : pair[1]));
      rows.append(row);
    });
    box.append(rows);
    if (sample.n_columns > sample.columns.length) {
      box.append(make("p", "and " + number(sample.n_columns - sample.columns.length) + " more columns", "quiet"));
    }
    return box;
  }

  function because(sample) {
    const words = {
      check: "Drawn at random, to measure the accuracy by. Hints are hidden until it is answered, so that they do not sway it.",
      cover: "It stands for a part of the samples that has no label near.",
      committee: "The committee disagrees about it more than about others.",
      random: "Drawn at random while the next questions are being prepared.",
      chosen: "You looked it up.",
      again: "You looked it up again.",
    };
    return words[sample.reason] || "";
  }

  function explain(sample) {
    const votes = byId("votes");
    const near = byId("near");
    votes.replaceChildren();
    near.replaceChildren();
    const hint = sample && sample.hint;
    byId("reasons").hidden = !hint || (!hint.votes.length && !hint.neighbors.length);
    if (!hint) return;
    if (hint.votes.length) {
      votes.append(make("p", "What the committee says: all classifiers that leave a label out, counted exactly.", "quiet"));
      const bars = make("div", null, "votes");
      hint.votes.slice(0, 5).forEach(function (vote) {
        const track = make("span", null, "track");
        const fill = make("i");
        fill.style.width = (100 * vote[1]).toFixed(1) + "%";
        track.append(fill);
        track.setAttribute("aria-hidden", "true");
        bars.append(make("span", vote[0], "name"), track, make("span", percent(vote[1], 1), "share"));
      });
      votes.append(bars);
    }
    if (hint.neighbors.length) {
      near.append(make("p", "The nearest labels, nearest first.", "quiet"));
      const cards = make("ul", null, "cards near");
      hint.neighbors.forEach(function (one) {
        const item = make("li");
        const button = card(one, one.label, "distance " + Number(one.distance.toPrecision(3)));
        item.append(button);
        cards.append(item);
      });
      near.append(cards);
    }
  }

  function card(sample, label, small) {
    const button = make("button");
    button.type = "button";
    if (sample.picture) {
      const image = picture(sample.row, "");
      button.append(image);
    }
    button.append(make("b", label));
    if (!sample.picture) button.append(make("span", sample.excerpt || ""));
    button.append(make("small", name(sample)));
    if (small) button.append(make("small", small));
    button.addEventListener("click", () => look(sample.row));
    return button;
  }

  function when(text) {
    const then = new Date(text);
    return isNaN(then) ? text : then.toLocaleString();
  }

  // ------------------------------------------------------------ how far things are

  function follow(now) {
    const classes = state ? JSON.stringify(state.classes.map((c) => c.label)) : "";
    const version = state ? state.version : -1;
    state = now;
    document.title = "Label " + now.target + " (" + number(now.n_labelled) + ")";
    byId("title").textContent = "Label " + now.target;
    byId("bar").max = now.n_samples;
    byId("bar").value = now.n_labelled + now.n_skipped;
    byId("count").textContent = number(now.n_labelled) + " of " + number(now.n_samples) + " labelled" +
      (now.n_skipped ? ", " + number(now.n_skipped) + " skipped" : "");
    if (now.failure) trouble("The learner cannot go on: " + now.failure + " Answers are kept.");
    if (JSON.stringify(now.classes.map((c) => c.label)) !== classes) buttons();
    counts();
    figures();
    if (now.version !== version) doubts();
  }

  // A class of one character has itself as its key, the others what is left, in their order.
  function keysOf(labels) {
    const own = new Set(labels.map((label) => label.toLowerCase()).filter((label) => KEYS.includes(label)));
    const left = KEYS.filter((key) => !own.has(key));
    const taken = new Set();
    return labels.map(function (label) {
      const key = label.toLowerCase();
      if (own.has(key) && !taken.has(key)) {
        taken.add(key);
        return key;
      }
      return left.shift();
    });
  }

  function buttons() {
    const place = byId("classes");
    place.replaceChildren();
    keys = keysOf(state.classes.map((c) => c.label));
    state.classes.forEach(function (one, i) {
      const button = make("button");
      button.type = "button";
      button.dataset.label = one.label;
      if (keys[i]) {
        button.append(make("kbd", keys[i]));
        button.setAttribute("aria-keyshortcuts", keys[i]);
      }
      button.append(make("span", one.label));
      button.addEventListener("click", function () { pressed = performance.now(); answer(one.label); });
      place.append(button);
    });
    if (!state.classes.length) place.append(make("p", "No classes yet: press n for the first one.", "quiet"));
  }

  function counts() {
    const rows = byId("per-class").querySelector("tbody");
    rows.replaceChildren();
    state.classes.forEach(function (one) {
      const row = make("tr");
      const head = make("th", one.label);
      head.scope = "row";
      row.append(head, make("td", number(one.n)));
      rows.append(row);
    });
    byId("labels").replaceChildren(number(state.n_labelled),
      make("small", state.classes.filter((c) => c.n).length + " of " + state.classes.length + " classes seen"));
  }

  function figures() {
    const measured = state.measure;
    const accuracy = measured && measured.accuracy;
    const ahead = measured && measured.forecast;
    byId("accuracy").replaceChildren(accuracy ? percent(accuracy.score) : "–",
      make("small", accuracy ? percent(accuracy.low) + " to " + percent(accuracy.high) : "no checks yet"));
    byId("gain").replaceChildren(ahead ? "+" + points(ahead.gain) + " points" : "–",
      make("small", ahead ? "forecast, 0 to " + points(ahead.high) : "too early to say"));
    byId("k").replaceChildren(measured ? "k = " + measured.n_neighbors : "–",
      make("small", measured && measured.tuned !== null ? percent(measured.tuned) + " on its own labels" : "not chosen yet"));
    const verdict = byId("verdict");
    verdict.className = ahead ? ahead.verdict.replace(" ", "-") : "";
    verdict.textContent = ahead ? MORE_WORDS[ahead.verdict] : state.share === 0 ? "Without random checks nothing is measured." :
      "Too early to say.";
    byId("honest").textContent = honest(accuracy, measured);
    curve(accuracy, measured, ahead);
  }

  function honest(accuracy, measured) {
    if (state.share === 0) return "The labels were chosen by the learner, so that an accuracy on them would not be that of all samples.";
    const words = accuracy
      ? "Accuracy: of " + number(accuracy.n_checks) + " samples drawn at random from all, each predicted from the other labels; 95\u00a0% interval. "
      : "";
    return words + "One question in " + number(Math.round(1 / state.share)) + " is drawn at random for this: the others are chosen by the learner, " +
      "are harder than most, and would not be a fair measure" +
      (measured && measured.tuned !== null ? " (k is chosen on them, leaving " + measured.leave_out + " out)." : ".");
  }

  function svg(tag, attributes, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    Object.keys(attributes).forEach((key) => made.setAttribute(key, attributes[key]));
    if (text !== undefined) made.textContent = text;
    return made;
  }

  // The exact learning curve of the labels on the checks, and where it is expected to go.
  function curve(accuracy, measured, ahead) {
    const figure = byId("curve");
    figure.hidden = !ahead;
    if (!ahead) return;
    const drawing = figure.querySelector("svg");
    const n = measured.n_labelled;
    const line = ahead.sizes.map((m, i) => [m + 1, 1 - ahead.errors[i]]);
    const then = n + ahead.more;
    const ends = [0, ahead.high].map((gain) => Math.min(1, accuracy.score + gain));
    const floor = Math.max(0, Math.min(0.95, ...line.map((p) => p[1])) - 0.02);
    const first = line[0][0];
    const x = (m) => 40 + 285 * (m - first) / (then - first);
    const y = (value) => 120 - 105 * (value - floor) / (1 - floor);
    drawing.replaceChildren();
    [floor, (1 + floor) / 2, 1].forEach(function (value) {
      drawing.append(svg("line", { class: "grid", x1: 40, x2: 330, y1: y(value), y2: y(value) }),
        svg("text", { x: 36, y: y(value) + 4, "text-anchor": "end" }, Math.round(100 * value) + "%"));
    });
    [[first, "start"], [n, "middle"], [then, "end"]].forEach(function (tick) {
      drawing.append(svg("text", { x: x(tick[0]), y: 136, "text-anchor": tick[1] }, number(tick[0])));
    });
    drawing.append(svg("text", { x: 185, y: 149, "text-anchor": "middle" }, "labels"));
    drawing.append(svg("polygon", { class: "band", points: [[n, accuracy.score], [then, ends[1]], [then, ends[0]]]
      .map((p) => x(p[0]) + "," + y(p[1])).join(" ") }));
    drawing.append(svg("polyline", { class: "line", points: line.map((p) => x(p[0]) + "," + y(p[1])).join(" ") }));
    drawing.append(svg("polyline", { class: "ahead", points: [[n, accuracy.score], [then, Math.min(1, accuracy.score + ahead.gain)]]
      .map((p) => x(p[0]) + "," + y(p[1])).join(" ") }));
    drawing.append(svg("circle", { class: "now", cx: x(n), cy: y(accuracy.score), r: 4 }));
    byId("curve-words").textContent = "Accuracy against labels: the exact learning curve of the labels so far, on the checks; " +
      "dashed, a forecast of what " + ahead.more + " more bring, with its band.";
  }

  function doubts() {
    const place = byId("doubt");
    place.replaceChildren();
    byId("doubt-title").textContent = "Look at again (" + state.suspects.length + ")";
    byId("doubt-words").textContent = state.suspects.length
      ? "Labels that the samples nearest to them speak against. They may be wrong, or the samples unusual; the same answer confirms them."
      : "No label looks wrong so far.";
    state.suspects.slice(0, 12).forEach(function (one) {
      const item = make("li");
      item.append(card(one, one.label, "looks like " + one.other + ", " + percent(one.share, 0)));
      place.append(item);
    });
  }

  let lists = 0;
  async function list() {
    const mine = ++lists;
    const wanted = byId("search").value;
    const found = await ask("/api/earlier?search=" + encodeURIComponent(wanted)).catch(() => null);
    if (found === null || mine !== lists) return;
    const place = byId("earlier");
    place.replaceChildren();
    found.samples.slice(0, wanted.trim() ? 60 : 12).forEach(function (one) {
      const item = make("li");
      const said = one.answer ? one.answer.label === null ? "skipped" : one.answer.label : "no label";
      item.append(card(one, said, one.answer ? one.answer.who || "somebody" : ""));
      place.append(item);
    });
    byId("found").textContent = wanted.trim() ? found.samples.length + " found" : found.samples.length ? "" : "None yet.";
  }

  async function news() {
    for (;;) {
      try {
        const visible = question && !document.hidden;
        const found = await ask("/api/state?version=" + state.version + (visible ? "&session=" + session : ""));
        follow(found.state);
        if (!question && found.state.n_labelled + found.state.n_skipped < found.state.n_samples) await work(refresh);
      } catch (error) {
        if (error.status === 401) {
          trouble("The server was started anew: open the address that it printed.");
          return;
        }
        await pause(2000);
      }
    }
  }

  // ------------------------------------------------------------ dialogs and keys

  function open(dialog, input) {
    input.value = "";
    dialog.returnValue = "";
    dialog.showModal();
    input.focus();
  }
  byId("new-class").addEventListener("close", function () {
    const text = byId("new-name").value.trim();
    if (byId("new-class").returnValue !== "ok" || !text) return;
    work(async () => {
      const found = await ask("/api/class", { label: text });
      follow(found.state);
      return found.label;
    }).then(() => { if (state.classes.some((c) => c.label === text) && question) answer(text); });
  });
  function fill() {
    const wanted = byId("find-name").value.trim().toLowerCase();
    const place = byId("find-list");
    place.replaceChildren();
    state.classes.filter((c) => c.label.toLowerCase().includes(wanted)).slice(0, 50).forEach(function (one) {
      const item = make("li");
      const button = make("button", one.label);
      button.type = "button";
      button.addEventListener("click", () => { byId("find-class").close("done"); answer(one.label); });
      item.append(button);
      place.append(item);
    });
  }
  byId("find-name").addEventListener("input", fill);
  byId("find-name").addEventListener("keydown", function (event) {
    if (event.key !== "Enter") return;
    event.preventDefault();
    const first = byId("find-list").querySelector("button");
    if (first) first.click();
  });

  const commands = {
    s: () => answer(null),
    u: undo,
    n: () => open(byId("new-class"), byId("new-name")),
    c: () => { open(byId("find-class"), byId("find-name")); fill(); },
    e: () => { byId("search").value = ""; list(); byId("look").scrollIntoView(); byId("search").focus(); },
    "/": () => { byId("look").scrollIntoView(); byId("search").focus(); },
    Escape: () => { if (!byId("back").hidden) back(); },
  };
  byId("skip").addEventListener("click", commands.s);
  byId("undo").addEventListener("click", commands.u);
  byId("new").addEventListener("click", commands.n);
  byId("choose").addEventListener("click", commands.c);
  byId("back").addEventListener("click", back);
  let typing = 0;
  byId("search").addEventListener("input", function () { clearTimeout(typing); typing = setTimeout(list, 150); });
  byId("search").addEventListener("keydown", function (event) { if (event.key === "Escape") byId("search").blur(); });

  document.addEventListener("keydown", function (event) {
    const inside = event.target.closest && event.target.closest("input:not([type=checkbox]), dialog");
    if (inside || event.ctrlKey || event.metaKey || event.altKey || event.repeat || !byId("keys").checked) return;
    if (!state) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const place = keys.indexOf(key);
    const command = Object.prototype.hasOwnProperty.call(commands, key) ? commands[key] : null;
    if (!command && place < 0) return;
    event.preventDefault();
    pressed = performance.now();
    if (command) command();
    else answer(state.classes[place].label);
  });

  // The token has done its work: it need not be seen in the address, nor kept in the history.
  if (location.search) history.replaceState(null, "", "/");
  work(async () => { await refresh(); list(); }).then(() => { if (state) news(); });
})();
