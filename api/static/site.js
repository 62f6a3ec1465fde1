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

/** What can be scrolled can be scrolled by keys too. */
export function scrollable(root = document) {
  for (const box of root.querySelectorAll(".scroll, figure, pre, article, main > table")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}

localTimes();
scrollable();
window.addEventListener("resize", () => scrollable());
document.querySelectorAll("input[data-narrows]").forEach(narrowing);
for (const select of document.querySelectorAll("select[data-at-once]")) {
  select.addEventListener("change", () => select.form.requestSubmit());
}
