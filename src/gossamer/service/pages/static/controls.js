// What a change will do is said while one types, and the page stays when it is made. All of it works without this file.
"use strict";

(() => {
  const PAUSE = 250; // ms without a key before the service is asked
  const said = new WeakMap(); // form -> fields of which the sentence is shown
  const timers = new WeakMap();

  const inside = () => document.getElementById("controls");
  const fields = (form, more = {}) => {
    const given = new URLSearchParams(new FormData(form));
    for (const [name, value] of Object.entries(more)) given.set(name, value);
    return given;
  };

  async function post(path, body) {
    const response = await fetch(path, { method: "POST", body, headers: { Accept: "text/html" } });
    if (response.redirected && new URL(response.url).pathname === "/login") location.reload();
    const parsed = new DOMParser().parseFromString(await response.text(), "text/html");
    return response.ok ? parsed : null;
  }

  // -- before -----------------------------------------------------------------------------------------------------------

  async function foretell(form) {
    const given = fields(form);
    if (form.dataset.control === "schedule") return paint(form);
    const found = form.checkValidity() ? await post(`/controls/before/${form.dataset.control}`, given) : null;
    if (fields(form).toString() !== given.toString()) return undefined; // it was typed on meanwhile
    return say(form, found && found.querySelector(".will"), given);
  }

  function say(form, will, given) {
    const place = form.querySelector("div.will");
    place.replaceChildren(...(will ? [will] : []));
    const good = Boolean(will) && !will.classList.contains("bad");
    if (good) said.set(form, given.toString());
    else said.delete(form);
    form.classList.toggle("ready", good);
  }

  document.addEventListener("input", (event) => {
    const form = event.target.closest("form[data-control]");
    if (!form || !form.querySelector("div.will") || event.target.closest(".brush")) return;
    clearTimeout(timers.get(form));
    timers.set(form, setTimeout(() => foretell(form), PAUSE));
  });

  // -- the change -------------------------------------------------------------------------------------------------------

  document.addEventListener("submit", async (event) => {
    const form = event.target.closest("#controls form[data-control]");
    if (!form || "plain" in form.dataset) return; // these ask on a page of their own
    event.preventDefault();
    clearTimeout(timers.get(form));
    if (said.get(form) !== fields(form).toString()) {
      await foretell(form); // nothing is done that was not said before
      return;
    }
    const button = form.querySelector("button:not([type])");
    button.disabled = true;
    const found = await post(form.getAttribute("action"), fields(form, { sure: "yes", back: inside().dataset.part }));
    button.disabled = false;
    const fresh = found && found.getElementById("controls");
    if (!fresh) return;
    inside().replaceWith(fresh);
    begin();
    const done = fresh.querySelector(".done");
    if (done) done.focus();
  });

  // -- hours ------------------------------------------------------------------------------------------------------------

  let from = null;
  let to = null;

  const cell = (event) => {
    const found = document.elementFromPoint(event.clientX, event.clientY);
    return found && found.closest("form .strip i[data-hour]");
  };
  const rows = () => [...document.querySelectorAll("#hours .day[data-days]")];

  function spanned() {
    const days = rows();
    const [top, bottom] = [from, to].map((each) => days.indexOf(each.parentElement)).sort((a, b) => a - b);
    const [first, last] = [from, to].map((each) => Number(each.dataset.hour)).sort((a, b) => a - b);
    return { chosen: days.slice(top, bottom + 1), first, last };
  }

  function mark() {
    const { chosen, first, last } = from ? spanned() : { chosen: [], first: 0, last: 0 };
    for (const row of rows()) {
      for (const each of row.querySelectorAll("i")) {
        const hour = Number(each.dataset.hour);
        each.classList.toggle("chosen", chosen.includes(row) && hour >= first && hour <= last);
      }
    }
  }

  async function paint(form, more = {}) {
    const given = fields(form, more);
    const found = await post("/controls/hours", given);
    const strip = found && found.querySelector(".strip");
    const will = found && found.querySelector(".will");
    if (strip) {
      if (will) will.remove();
      if (more.paint) form.elements.schedule.value = strip.dataset.lines;
      form.querySelector(".strip").replaceWith(strip);
    }
    say(form, will, fields(form));
  }

  function brush(form) {
    const chosen = form.elements.brush.value;
    return chosen === "cap" ? `rate=${form.elements.brush_rate.value.trim() || 0}` : chosen;
  }

  document.addEventListener("pointerdown", (event) => {
    const found = cell(event);
    if (!found || event.button) return;
    event.preventDefault();
    from = to = found;
    mark();
  });
  document.addEventListener("pointermove", (event) => {
    const found = from && cell(event);
    if (!found || found === to) return;
    to = found;
    mark();
  });
  document.addEventListener("pointerup", () => {
    if (!from) return;
    const form = from.closest("form");
    const { chosen, first, last } = spanned();
    from = null;
    const days = chosen.map((row) => row.dataset.days).join("");
    paint(form, { paint: `${days} ${first} ${last}`, caps: brush(form) });
  });
  document.addEventListener("pointercancel", () => {
    from = null;
    mark();
  });
  document.addEventListener("change", (event) => {
    if (event.target.name === "each") paint(event.target.form);
    if (event.target.name === "brush_rate") event.target.form.elements.brush.value = "cap";
  });

  function begin() {
    const brushes = document.querySelector(".brush");
    if (brushes) brushes.hidden = false;
  }
  begin();
})();
