// The strip of hours, painted by dragging; needs controls.js. Without them the same hours are written as lines.
"use strict";

let from = null;
let to = null;

const cell = (event) => {
  const found = document.elementFromPoint(event.clientX, event.clientY);
  return found && found.closest("form .cell");
};
const rows = () => [...document.querySelectorAll("#hours svg[data-days]")];

function spanned() {
  const days = rows();
  const [top, bottom] = [from, to].map((each) => days.indexOf(each.parentElement)).sort((a, b) => a - b);
  const [first, last] = [from, to].map((each) => Number(each.dataset.hour)).sort((a, b) => a - b);
  return { chosen: days.slice(top, bottom + 1), first, last };
}

function mark() {
  const { chosen, first, last } = from ? spanned() : { chosen: [], first: 0, last: 0 };
  for (const row of rows()) {
    for (const each of row.querySelectorAll(".cell")) {
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
