// Puts what has changed where it belongs. What stands there is rendered by the service; without this file it stands still.
"use strict";

(() => {
  const RETRY = 5000; // ms after which a stream that was refused is asked for again
  const places = new Map(); // name -> [element, attribute], attribute empty for its text
  for (const element of document.querySelectorAll("[data-live]")) {
    for (const name of element.dataset.live.split(" ")) {
      const found = places.get(name) || [];
      found.push([element, name.split("@")[1] || ""]);
      places.set(name, found);
    }
  }
  const silent = document.getElementById("silent");
  let source = null;
  let timer = 0;

  function put(board) {
    for (const [name, text] of Object.entries(board)) {
      for (const [element, attribute] of places.get(name) || []) {
        if (attribute === "hidden") element.hidden = text !== "";
        else if (attribute) element.setAttribute(attribute, text);
        else element.textContent = text;
      }
    }
  }

  function close() {
    clearTimeout(timer);
    if (source) source.close();
    source = null;
  }

  function listen() {
    close();
    source = new EventSource("/dashboard/events" + location.search);
    source.addEventListener("board", (event) => {
      const board = JSON.parse(event.data);
      silent.hidden = true;
      put(board);
      if (board.asof && !document.querySelector(".meters")) location.reload(); // there is a crawl now
    });
    source.addEventListener("end", (event) => {
      if (JSON.parse(event.data).reason === "key") location.reload(); // which leads to the login
    });
    source.addEventListener("error", () => {
      silent.hidden = false;
      if (source && source.readyState === EventSource.CLOSED) timer = setTimeout(ask, RETRY); // it was refused
    });
  }

  async function ask() {
    try {
      const page = await fetch(location.href, { redirect: "manual" });
      if (page.type === "opaqueredirect") location.reload(); // to the login
    } catch {
      // away still
    }
    listen();
  }

  // A page that nobody looks at needs no news, and browsers allow few streams at a time.
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : listen()));
  window.addEventListener("pagehide", close);
  if (!document.hidden) listen();
})();
