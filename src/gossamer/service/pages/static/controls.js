// What a change will do is said while one types, and the page stays when it is made. All of it works without this file.
"use strict";

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

// Before

async function foretell(form) {
  const given = fields(form);
  if (form.dataset.control === "schedule") return paint(form); // hours.js
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
  form.querySelector("button:not([type])").classList.toggle("plain", !good);
}

document.addEventListener("input", (event) => {
  const form = event.target.closest("form[data-control]");
  if (!form || !form.querySelector("div.will") || event.target.closest(".brush")) return;
  clearTimeout(timers.get(form));
  timers.set(form, setTimeout(() => foretell(form), PAUSE));
});

// The change

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("#controls form[data-control]");
  if (!form || "plain" in form.dataset) return; // these ask on a page of their own
  event.preventDefault();
  clearTimeout(timers.get(form));
  if (form.querySelector("div.will") && said.get(form) !== fields(form).toString()) {
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
  const done = fresh.querySelector(".note.will");
  if (done) done.focus();
});

// What was typed before this file had come, or was there before a page was loaded again, is spoken of as well.
const isTyped = (field) =>
  /^(checkbox|radio)$/.test(field.type)
    ? field.checked !== field.defaultChecked
    : field.defaultValue !== undefined && field.value !== field.defaultValue;

function begin() {
  const brushes = document.querySelector(".brush");
  if (brushes) brushes.hidden = false;
  for (const form of document.querySelectorAll("#controls form[data-control]")) {
    if (form.querySelector("div.will") && [...form.elements].some(isTyped)) foretell(form);
  }
}
document.addEventListener("DOMContentLoaded", begin); // hours.js has come by then
