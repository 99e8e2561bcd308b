// Results while one types, and keys to go through them. Everything else works without this file.
"use strict";

const field = document.getElementById("q");
const form = field.form;
const PAUSE = 120; // ms without a key before the index is asked

let asked = 0; // the newest question; answers to older ones are dropped
let timer = 0;
let shown = field.value;

function address(path) {
  const given = new URLSearchParams(new FormData(form));
  if (!field.value.trim()) given.delete("q");
  const text = given.toString();
  return text ? path + "?" + text : path;
}

async function ask() {
  const number = ++asked;
  const text = field.value;
  let html;
  try {
    const response = await fetch(address("/results"), { headers: { Accept: "text/html" } });
    if (response.redirected) return location.assign(address("/")); // the login has ended
    if (!response.ok) return undefined;
    html = await response.text();
  } catch {
    return undefined; // the service is away; Enter will say so
  }
  if (number === asked) show(html, text);
  return undefined;
}

function show(html, text) {
  const found = new DOMParser().parseFromString(html, "text/html");
  const wrong = found.getElementById("wrong");
  const answer = found.getElementById("answer");
  if (!answer) return;
  document.getElementById("wrong").replaceWith(wrong);
  // Half a query is often none: what was found before stays until the next one is understood.
  if (!("wrong" in answer.dataset)) document.getElementById("answer").replaceWith(answer);
  document.getElementById("said").textContent = answer.dataset.said;
  shown = text;
  history.replaceState(null, "", address("/"));
  document.title = (text.trim() ? text.trim() + " - " : "") + "Gossamer";
}

field.addEventListener("input", () => {
  clearTimeout(timer);
  asked += 1; // what is under way answers a text that is no longer there
  timer = setTimeout(() => field.value !== shown && ask(), PAUSE);
});

form.addEventListener("submit", (event) => {
  clearTimeout(timer);
  if (!field.value.trim()) event.preventDefault();
});

function move(step) {
  const hits = [...document.querySelectorAll("[data-hit]")];
  const at = hits.indexOf(document.activeElement);
  if (at < 0 && document.activeElement !== field) return false;
  const next = at + step;
  if (next >= hits.length || next < -1) return at >= 0;
  const target = next < 0 ? field : hits[next];
  target.focus();
  target.scrollIntoView({ block: "nearest" });
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === "/" && !event.target.matches("input, textarea")) {
    field.focus();
    field.select();
    event.preventDefault();
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    if (move(event.key === "ArrowDown" ? 1 : -1)) event.preventDefault();
  }
});
