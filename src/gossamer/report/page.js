// Copies a table as CSV. Without this script the page is the same, but for the buttons.
document.documentElement.classList.add("js");
// A spreadsheet must not take the words of a web page for a formula.
const cell = (text, number) => {
  const safe = !number && /^[=+\-@\t\r]/.test(text) ? "'" + text : text;
  return /[",\n\r]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
};
const csv = (table) =>
  [...table.rows]
    .map((row) => [...row.cells].map((c) => cell(c.dataset.v ?? c.textContent.trim(), c.dataset.v !== undefined)).join(","))
    .join("\r\n") + "\r\n";
const copyByHand = (text) => {
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
};
// In the frame of a page of the service: that page is told how tall this one is, and where a link of the contents leads.
if (parent !== window) {
  const root = document.documentElement;
  const tell = (more) => parent.postMessage({ height: Math.ceil(root.getBoundingClientRect().height), ...more }, "*");
  new ResizeObserver(() => tell()).observe(root);
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link) tell({ show: document.getElementById(link.hash.slice(1)).getBoundingClientRect().top });
  });
}
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-table]");
  if (!button) return;
  const text = csv(document.getElementById(button.dataset.table));
  let done = false;
  try {
    await navigator.clipboard.writeText(text);
    done = true;
  } catch {
    done = copyByHand(text);
  }
  button.textContent = done ? "Copied" : "Not copied";
  setTimeout(() => (button.textContent = "Copy as CSV"), 1500);
});
