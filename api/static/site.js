// What every page has: times in the reader's own zone, and lists that can be narrowed by typing.

const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export function localTimes(root = document) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const when = new Date(time.dateTime);
    if (!Number.isNaN(when.getTime())) {
      time.textContent = clock.format(when);
      time.title = time.dateTime;
    }
  }
}

export function narrowing(input) {
  const list = document.getElementById(input.dataset.narrows);
  const items = [...list.children];
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    for (const item of items) {
      const chosen = item.querySelector("input:checked");
      item.hidden = !chosen && !item.textContent.toLowerCase().includes(wanted);
    }
  });
}

localTimes();
document.querySelectorAll("input[data-narrows]").forEach(narrowing);
for (const select of document.querySelectorAll("select[data-at-once]")) {
  select.addEventListener("change", () => select.form.requestSubmit());
}
