// Before the first paint: the theme that this browser chose. Without a choice the system's own counts.
(function () {
  "use strict";
  try {
    var theme = localStorage.getItem("fairgate-theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch (_) {}
})();
