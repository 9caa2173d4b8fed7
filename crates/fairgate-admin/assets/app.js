// Refreshing by morphing: what the user has focused, opened, scrolled or typed stays. Never two refreshes at once.
(function () {
  "use strict";
  var root = document.documentElement;
  var timer = null;
  var busy = false;

  function kept(name, fallback) {
    try { return localStorage.getItem(name) || fallback; } catch (_) { return fallback; }
  }
  function keep(name, value) {
    try { localStorage.setItem(name, value); } catch (_) {}
  }

  function isTyped(field) {
    if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
    if (field.tagName === "SELECT") {
      return Array.prototype.some.call(field.options, function (option) { return option.selected !== option.defaultSelected; })
        && field.value !== (field.dataset.first || field.options[0] && field.options[0].value);
    }
    return "defaultValue" in field && field.value !== field.defaultValue;
  }

  var callbacks = {
    // Panels that the user opened or closed stay so.
    beforeAttributeUpdated: function (name, node) {
      return !(name === "open" && node.tagName === "DETAILS");
    },
    // What was typed and not sent stays.
    beforeNodeMorphed: function (old) {
      return !(old.nodeType === 1 && /^(INPUT|SELECT|TEXTAREA)$/.test(old.tagName) && old.type !== "hidden" && (old === document.activeElement || isTyped(old)));
    }
  };

  function morph(text) {
    var next = new DOMParser().parseFromString(text, "text/html");
    var main = next.getElementById("main");
    if (!main) return false;
    var scrolled = Array.prototype.map.call(document.querySelectorAll("#main .scroll"), function (box) { return [box, box.scrollLeft, box.scrollTop]; });
    Idiomorph.morph(document.getElementById("main"), main, { morphStyle: "outerHTML", ignoreActiveValue: true, callbacks: callbacks });
    scrolled.forEach(function (place) { if (place[0].isConnected) { place[0].scrollLeft = place[1]; place[0].scrollTop = place[2]; } });
    return true;
  }

  function tell(text, stale) {
    var place = document.getElementById("refreshed");
    if (place) { place.textContent = text; place.classList.toggle("stale", !!stale); }
  }

  function refresh() {
    if (busy || document.hidden) return schedule();
    busy = true;
    var stop = new AbortController();
    var patience = setTimeout(function () { stop.abort(); }, 15000);
    fetch(location.href, { signal: stop.signal, credentials: "same-origin", headers: { "X-Refresh": "1" } })
      .then(function (answer) {
        if (!answer.ok) throw new Error("status " + answer.status);
        return answer.text();
      })
      .then(function (text) {
        try {
          if (morph(text)) tell("refreshed " + new Date().toLocaleTimeString());
        } catch (fault) {
          console.error(fault);
          tell("not refreshed: the page could not be put in place; reload it", true);
        }
      })
      .catch(function () { tell("not refreshed: the server does not answer", true); })
      .finally(function () { clearTimeout(patience); busy = false; root.dataset.refreshes = String(1 + Number(root.dataset.refreshes || 0)); schedule(); });
  }

  function schedule() {
    clearTimeout(timer);
    var seconds = Number(kept("fairgate-refresh", "0"));
    if (seconds > 0) timer = setTimeout(refresh, seconds * 1000);
  }

  function choose(id, name, fallback, changed) {
    var select = document.getElementById(id);
    if (!select) return;
    select.value = kept(name, fallback);
    if (select.selectedIndex < 0) select.value = fallback;
    select.addEventListener("change", function () { keep(name, select.value); changed(select.value); });
  }

  // One panel of operations at a time; Escape closes it.
  document.addEventListener("toggle", function (event) {
    var panel = event.target;
    if (panel.matches && panel.matches("details.careful[open]")) {
      document.querySelectorAll("details.careful[open]").forEach(function (other) { if (other !== panel) other.open = false; });
    }
  }, true);
  document.addEventListener("keydown", function (event) {
    if (event.key !== "Escape") return;
    document.querySelectorAll("details.careful[open]").forEach(function (panel) { panel.open = false; panel.querySelector("summary").focus(); });
  });
  // A form is sent once.
  document.addEventListener("submit", function (event) {
    if (event.target.dataset.sent) { event.preventDefault(); return; }
    if (event.target.method === "post") event.target.dataset.sent = "1";
  });

  var knobs = document.getElementById("knobs");
  if (knobs) knobs.hidden = false;
  choose("refresh", "fairgate-refresh", "0", schedule);
  choose("theme", "fairgate-theme", "auto", function (theme) {
    if (theme === "auto") delete root.dataset.theme; else root.dataset.theme = theme;
  });
  document.addEventListener("visibilitychange", function () { if (!document.hidden) schedule(); });
  schedule();
})();
