"use strict";
// Without this script the page shows everything below each other; it adds tabs, hovering and a search.
(function () {
  const list = document.getElementById("tabs");
  const panels = Array.from(document.querySelectorAll("main > section"));
  const tabs = panels.map(function (panel) {
    const tab = document.createElement("button");
    tab.type = "button";
    tab.id = "tab-" + panel.id;
    tab.textContent = panel.dataset.title;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", panel.id);
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    panel.tabIndex = 0;
    list.appendChild(tab);
    return tab;
  });

  function select(index, focus) {
    tabs.forEach(function (tab, i) {
      tab.setAttribute("aria-selected", String(i === index));
      tab.tabIndex = i === index ? 0 : -1;
      panels[i].hidden = i !== index;
    });
    if (focus) tabs[index].focus();
  }

  // The address names the open part, so that a link can point to it.
  function remember(index) {
    try {
      history.replaceState(null, "", "#" + panels[index].id);
    } catch (refused) { /* a frame without an address of its own */ }
  }

  function follow() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const index = panels.findIndex(function (panel) { return target && panel.contains(target); });
    if (index >= 0) select(index, false);
    return index >= 0;
  }

  tabs.forEach(function (tab, i) {
    tab.addEventListener("click", function () { select(i, false); remember(i); });
    tab.addEventListener("keydown", function (event) {
      const last = tabs.length - 1;
      const next = { ArrowRight: i === last ? 0 : i + 1, ArrowLeft: i === 0 ? last : i - 1,
        Home: 0, End: last }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      select(next, true);
      remember(next);
    });
  });
  list.hidden = false;
  if (!follow()) select(0, false);
  window.addEventListener("hashchange", follow);

  document.querySelectorAll(".find").forEach(function (find) {
    const rows = Array.from(document.querySelectorAll("#each tbody tr"));
    const names = rows.map(function (row) { return row.cells[0].textContent.toLowerCase(); });
    const said = find.querySelector("[role=status]");
    const input = find.querySelector("input");
    function search() {
      const wanted = input.value.trim().toLowerCase();
      let found = 0;
      rows.forEach(function (row, i) {
        row.hidden = !names[i].includes(wanted);
        if (!row.hidden) found += 1;
      });
      said.textContent = found.toLocaleString("en") + " of " + rows.length.toLocaleString("en") + " classes";
    }
    input.addEventListener("input", search);
    find.hidden = false;
    search();
  });

  const curves = JSON.parse(document.getElementById("points").textContent);
  document.querySelectorAll(".plot").forEach(function (plot) {
    const number = Number(plot.dataset.curve);
    const points = curves[number].points;
    const svg = plot.querySelector("svg");
    const tip = plot.querySelector(".tip");
    const here = plot.querySelector(".here");
    const rule = plot.querySelector(".rule");
    const width = svg.viewBox.baseVal.width;
    const height = svg.viewBox.baseVal.height;
    let at = curves[number].best;

    function show(index) {
      at = Math.max(0, Math.min(points.length - 1, index));
      const x = points[at][0];
      const y = points[at][1];
      here.setAttribute("cx", x);
      here.setAttribute("cy", y);
      rule.setAttribute("x1", x);
      rule.setAttribute("x2", x);
      here.removeAttribute("visibility");
      rule.removeAttribute("visibility");
      tip.textContent = points[at][2];
      tip.hidden = false;
      // Beside neither edge of the plot: half of the tip lies to the left of its place.
      const room = plot.clientWidth;
      const half = tip.offsetWidth / 2;
      tip.style.left = Math.max(half, Math.min(room - half, room * x / width)) + "px";
      tip.style.top = Math.max(tip.offsetHeight + 12, plot.clientHeight * y / height) + "px";
    }

    function hide() {
      tip.hidden = true;
      here.setAttribute("visibility", "hidden");
      rule.setAttribute("visibility", "hidden");
    }

    svg.addEventListener("pointermove", function (event) {
      const box = svg.getBoundingClientRect();
      const x = (event.clientX - box.left) / box.width * width;
      let nearest = 0;
      points.forEach(function (point, i) {
        if (Math.abs(point[0] - x) < Math.abs(points[nearest][0] - x)) nearest = i;
      });
      show(nearest);
    });
    svg.addEventListener("pointerleave", hide);
    svg.addEventListener("focus", function () { show(at); });
    svg.addEventListener("blur", hide);
    svg.addEventListener("keydown", function (event) {
      const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: points.length - 1,
        PageUp: at - 10, PageDown: at + 10 }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      show(next);
    });
  });
})();
