// The report's frame is as tall as what it shows, so that the page has one scrollbar; and how far the next report is.
// Without this file the frame fills the window, and the page is loaded again while a report is being made.
"use strict";

const TALLEST = 100_000; // pixels
const PAUSE = 3000; // ms between two looks at a report that is being made

// What is in the frame is made of strangers' words. All that it can do here is to be tall, and to be scrolled to.
addEventListener("message", (event) => {
  const frame = document.querySelector("iframe.report");
  if (!frame || event.source !== frame.contentWindow) return;
  const { height, show } = Object(event.data);
  if (height > 0) frame.style.minHeight = `${Math.min(height, TALLEST)}px`;
  if (show >= 0) scrollBy(0, frame.getBoundingClientRect().top + Math.min(show, TALLEST));
});

async function look() {
  try {
    const answer = await fetch("/report");
    const found = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("making");
    if (!found) return location.reload(); // it is ready, or it failed, or the login has ended
    document.getElementById("making").textContent = found.textContent;
  } catch {
    // the service is away
  }
  return setTimeout(look, PAUSE);
}

addEventListener("DOMContentLoaded", () => document.getElementById("making") && setTimeout(look, PAUSE));
