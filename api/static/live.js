// A tournament as it goes on: told by the server's events, asked for now and then where they do not come.

import { localTimes, scrollable } from "./site.js";

const PATIENCE = [1000, 2000, 4000, 8000]; // milliseconds before the next try to hear events again
const POLL = 3000;
const REST = 1200; // the page is fetched anew no more often

const moving = document.getElementById("moving");
const sign = document.getElementById("live");
const firstPlaces = places();
let source = null;
let tries = 0;
let due = null;
let asked = 0;
let over = false;

function places() {
  return new Map([...moving.querySelectorAll("tr[data-place]")].map((row) => [row.dataset.key, Number(row.dataset.place)]));
}

function say(state, text) {
  if (sign.dataset.state !== state) {
    sign.dataset.state = state;
    sign.textContent = text;
  }
}

function listen() {
  if (over) return;
  source = new EventSource(moving.dataset.live);
  source.addEventListener("open", () => {
    tries = 0;
    say("live", "live");
    refresh();
  });
  source.addEventListener("progress", (event) => {
    const told = JSON.parse(event.data);
    const bar = moving.querySelector("progress");
    if (bar) bar.value = told.played;
    refresh();
  });
  source.addEventListener("result", () => refresh());
  source.addEventListener("status", (event) => {
    if (["finished", "cancelled"].includes(JSON.parse(event.data).status)) finish();
    else refresh();
  });
  source.addEventListener("error", () => {
    source.close(); // a browser gives up for good on any answer but 200: trying again is ours to do
    if (over) return;
    say("away", "asking now and then");
    const pause = PATIENCE[Math.min(tries, PATIENCE.length - 1)];
    tries += 1;
    setTimeout(listen, pause);
  });
}

async function finish() {
  over = true;
  source?.close();
  await fetchPart();
  say("over", "over");
  setTimeout(() => location.reload(), 1500); // the secret and the exports are on the whole page
}

function refresh() {
  if (due) return;
  due = setTimeout(async () => {
    due = null;
    await fetchPart();
  }, Math.max(0, REST - (performance.now() - asked)));
}

async function fetchPart() {
  asked = performance.now();
  try {
    const answer = await fetch(moving.dataset.part, { cache: "no-cache" });
    if (!answer.ok) throw new Error(String(answer.status));
    replace(await answer.text());
    if (sign.dataset.state === "away") say("polling", "live, asking now and then");
    return true;
  } catch {
    say("away", "the server is away; trying again");
    return false;
  }
}

/** New content in place of the old, rows gliding from where they were. */
function replace(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html");
  const before = new Map([...moving.querySelectorAll("tr[data-key]")].map((row) => [row.dataset.key, row.getBoundingClientRect().top]));
  moving.replaceChildren(...fresh.body.childNodes);
  localTimes(moving);
  scrollable(moving);
  for (const row of moving.querySelectorAll("tr[data-place]")) mark(row);
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  for (const row of moving.querySelectorAll("tr[data-key]")) {
    const by = before.get(row.dataset.key) - row.getBoundingClientRect().top;
    if (by) row.animate([{ transform: `translateY(${by}px)` }, { transform: "none" }], { duration: 450, easing: "ease-in-out" });
  }
}

/** How far a line has moved since the page was opened. */
function mark(row) {
  const by = (firstPlaces.get(row.dataset.key) ?? 0) - Number(row.dataset.place);
  if (!by || !firstPlaces.has(row.dataset.key)) return;
  const arrow = document.createElement("span");
  arrow.className = by > 0 ? "moved-up" : "moved-down";
  arrow.textContent = `${by > 0 ? "\u25b2" : "\u25bc"}${Math.abs(by)}`;
  arrow.title = `${by > 0 ? "up" : "down"} ${Math.abs(by)} since you came`;
  row.querySelector(".place").after(arrow);
}

listen();
setInterval(() => {
  if (!over && source?.readyState !== EventSource.OPEN) refresh();
}, POLL);
