"use strict";
// Without this script the page shows everything below each other; it adds tabs and hovering.
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

  tabs.forEach(function (tab, i) {
    tab.addEventListener("click", function () { select(i, false); });
    tab.addEventListener("keydown", function (event) {
      const last = tabs.length - 1;
      const next = { ArrowRight: i === last ? 0 : i + 1, ArrowLeft: i === 0 ? last : i - 1,
        Home: 0, End: last }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      select(next, true);
    });
  });
  list.hidden = false;
  select(0, false);

  const curves = JSON.parse(document.getElementById("curves").textContent);
  document.querySelectorAll(".plot").forEach(function (plot, number) {
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
      tip.style.left = Math.max(16, Math.min(84, 100 * x / width)) + "%";
      tip.style.top = 100 * Math.max(y, 40) / height + "%";
      tip.hidden = false;
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
