// Operations of the API tried from their description. What comes back is shown as text, whatever it is. Without this
// file the forms of operations that read lead to their answers.
"use strict";

const LONGEST = 100_000; // characters of a body that are shown
const stops = new WeakMap(); // form -> what ends its request

function address(form) {
  const query = new URLSearchParams();
  const headers = {};
  let path = form.dataset.path;
  for (const field of form.querySelectorAll("[data-in]")) {
    const { name, in: where } = field.dataset;
    if (where === "path") path = path.replace(`{${name}}`, encodeURIComponent(field.value));
    else if (!field.value) continue;
    else if (where === "header") headers[name] = field.value;
    else query.set(name, field.value);
  }
  const text = query.toString();
  return { path: text ? `${path}?${text}` : path, headers };
}

function request(form, signal) {
  const { path, headers } = address(form);
  const key = document.getElementById("key").value.trim();
  const body = form.querySelector("textarea")?.value.trim();
  if (key) headers.Authorization = `Bearer ${key}`;
  if (body) headers["Content-Type"] = "application/json";
  return fetch(path, { method: form.dataset.method, headers, body: body || undefined, signal });
}

function pretty(text, type) {
  try {
    return /[/+]json\b/.test(type) ? JSON.stringify(JSON.parse(text), null, 2) : text;
  } catch {
    return text; // cut, or none
  }
}

async function send(form, status, headers, body) {
  const stop = new AbortController();
  stops.set(form, stop);
  const began = performance.now();
  status.textContent = "Sent, no answer yet";
  headers.textContent = body.textContent = "";
  let text = "";
  try {
    const answer = await request(form, stop.signal);
    const took = Math.round(performance.now() - began);
    status.textContent = `${answer.status} ${answer.statusText}, after ${took} ms`;
    headers.textContent = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
    const parts = answer.body && answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let part = await parts?.read(); part && !part.done; part = await parts.read()) {
      text += part.value;
      body.textContent = text.slice(0, LONGEST); // a stream is shown as it comes
      if (text.length > LONGEST) {
        status.append(`; only the first ${LONGEST.toLocaleString("en")} characters are shown`);
        return stop.abort();
      }
    }
    body.textContent = pretty(text, answer.headers.get("content-type") || "");
  } catch (error) {
    status.append(stop.signal.aborted ? "; stopped" : `; ${error.message}`);
  }
  return undefined;
}

async function tried(event) {
  event.preventDefault();
  const form = event.target;
  const [button, stop] = form.querySelectorAll("button");
  const place = form.nextElementSibling;
  place.hidden = false;
  button.disabled = true;
  stop.disabled = false;
  await send(form, ...place.children);
  button.disabled = false;
  stop.disabled = true;
}

for (const form of document.querySelectorAll("form[data-path]")) {
  form.hidden = false;
  form.addEventListener("submit", tried);
  form.querySelectorAll("button")[1].addEventListener("click", () => stops.get(form)?.abort());
}
