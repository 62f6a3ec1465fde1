// Watching a match: the table from above, step by step, by trick and by round, forward and back.

import { card, cardName, colourName, element, shape } from "./cards.js";
import { address, find, jump, moments, roundOf, trickOf } from "./story.js";
import { bidding, signed, words } from "./words.js";

const PACE = 900; // milliseconds a step at speed 1

class Replay {
  constructor(root, told) {
    this.root = root;
    this.told = told;
    this.all = moments(told.rounds);
    this.at = 0;
    this.timer = null;
    this.names = told.match.seats.map((seat) => (seat.version === null ? seat.name : `${seat.name} v${seat.version}`));
    this.part = (name) => root.querySelector(`[data-part="${name}"]`);
    this.felt = this.part("felt");
    this.sheet = [...document.querySelectorAll("[data-round]")];
    this.setUp();
    this.show(find(this.all, told.match.faults, location.hash) ?? 0, { keepAddress: true });
    this.felt.setAttribute("aria-busy", "false");
  }

  setUp() {
    const slider = this.part("slider");
    slider.max = this.all.length - 1;
    slider.addEventListener("input", () => this.go(slider.valueAsNumber));
    this.acts = {
      step: (way) => this.go(this.at + way),
      trick: (way) => this.go(jump(this.all, this.at, way, trickOf)),
      round: (way) => this.go(jump(this.all, this.at, way, roundOf)),
      end: (way) => this.go(way > 0 ? this.all.length - 1 : 0),
    };
    for (const button of this.root.querySelectorAll("button[data-by]")) {
      button.addEventListener("click", () => this.acts[button.dataset.by](Number(button.dataset.way)));
    }
    this.part("play").addEventListener("click", () => this.toggle());
    this.part("link").addEventListener("click", () => this.copy());
    this.ticks();
    window.addEventListener("hashchange", () => {
      const at = find(this.all, this.told.match.faults, location.hash);
      if (at !== null) {
        this.stop();
        this.show(at, { keepAddress: true });
      }
    });
    document.addEventListener("keydown", (event) => this.key(event));
  }

  ticks() {
    const flawed = new Set(this.all.filter((each) => each.marks.length).map(roundOf));
    this.tickMarks = this.told.rounds.map((round) => {
      const button = element("button", flawed.has(round.round) ? "flaw" : "", String(round.round));
      button.type = "button";
      button.style.flexGrow = round.steps.length;
      button.ariaLabel = `Round ${round.round}${flawed.has(round.round) ? ", with a fault" : ""}`;
      button.addEventListener("click", () => this.go(this.all.findIndex((each) => each.round === round.round)));
      return button;
    });
    this.part("ticks").append(...this.tickMarks);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.closest("input:not([type=range]), select, textarea");
    if (typing) return;
    const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const plain = {
      n: () => this.acts.round(1), p: () => this.acts.round(-1), Home: () => this.acts.end(-1), End: () => this.acts.end(1),
      "+": () => this.pace(1), "-": () => this.pace(-1),
    }[event.key];
    const onButton = event.target.closest("button, a, summary");
    if (way) (event.shiftKey ? this.acts.trick : this.acts.step)(way);
    else if (event.key === " " && !onButton) this.toggle();
    else if (plain) plain();
    else return;
    event.preventDefault();
  }

  pace(way) {
    const speed = this.part("speed");
    speed.selectedIndex = Math.min(Math.max(speed.selectedIndex + way, 0), speed.options.length - 1);
  }

  toggle() {
    if (this.timer) return this.stop();
    if (this.at === this.all.length - 1) this.show(0);
    this.part("play").setAttribute("aria-pressed", "true");
    this.part("play").querySelector("span").textContent = "Pause";
    this.tick();
    return undefined;
  }

  tick() {
    this.timer = setTimeout(() => {
      if (this.at >= this.all.length - 1) return this.stop();
      this.show(this.at + 1);
      return this.tick();
    }, PACE / Number(this.part("speed").value));
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = null;
    this.part("play").setAttribute("aria-pressed", "false");
    this.part("play").querySelector("span").textContent = "Play";
  }

  go(at) {
    this.stop();
    this.show(Math.min(Math.max(at, 0), this.all.length - 1));
  }

  async copy() {
    const link = location.href;
    const said = await navigator.clipboard?.writeText(link).then(() => "Copied", () => null);
    this.part("link").textContent = said ?? "Copy the address above";
    setTimeout(() => { this.part("link").textContent = "Link to here"; }, 1500);
  }

  show(at, { keepAddress = false } = {}) {
    this.fresh = at === this.at + 1;
    this.at = at;
    const moment = this.all[at];
    this.felt.replaceChildren(...moment.state.hands.map((_, seat) => this.seat(moment, seat)), this.middle(moment), this.trick(moment));
    this.part("where").textContent = this.where(moment);
    this.part("said").textContent = this.said(moment);
    const slider = this.part("slider");
    slider.value = at;
    slider.setAttribute("aria-valuetext", `${this.where(moment)}: ${this.said(moment)}`);
    this.beside(moment);
    if (!keepAddress) this.remember(moment);
  }

  remember(moment) {
    clearTimeout(this.later); // browsers allow few changes of the address a second
    this.later = setTimeout(() => history.replaceState(null, "", address(moment)), this.timer ? 250 : 60);
  }

  /** The parts around the table that follow the round. */
  beside(moment) {
    for (const each of this.sheet) {
      const now = Number(each.dataset.round) === moment.round;
      if (each.tagName === "TR") each.classList.toggle("now", now);
      else each.hidden = !now;
    }
    this.tickMarks.forEach((tick, index) => {
      if (index + 1 === moment.round) tick.setAttribute("aria-current", "true");
      else tick.removeAttribute("aria-current");
    });
    const line = document.querySelector("#points .now");
    if (line) {
      const { from, to, rounds } = line.dataset;
      const done = moment.round - (moment.did === "score" ? 0 : 1);
      const x = Number(from) + ((Number(to) - Number(from)) * done) / Number(rounds);
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
    }
  }

  where(moment) {
    const part = moment.did === "deal" ? "the deal" : moment.did === "score" ? "the score" : moment.trick ? `trick ${moment.trick} of ${moment.size}` : "bidding";
    return `Round ${moment.round} of ${this.told.rounds.length}, ${part}`;
  }

  said(moment) {
    return words(moment, this.told.match, this.names, moment === this.all.at(-1));
  }

  place(seat, far) {
    const angle = Math.PI / 2 + (2 * Math.PI * seat) / this.told.players;
    return [50 + far[0] * Math.cos(angle), 50 + far[1] * Math.sin(angle)];
  }

  seat(moment, seat) {
    const { state } = moment;
    const many = this.told.players > 6;
    const turn = state.turn === seat;
    const made = element("section", `seat${turn ? " turn" : ""}${moment.did === "take" && moment.seat === seat ? " took" : ""}`);
    const [x, y] = this.place(seat, many ? [39.5, 38] : [36, 36]);
    const narrow = matchMedia("(max-width: 48rem)").matches;
    const width = narrow ? 46 : many ? 36 : 56;
    const cards = state.hands[seat].length;
    const room = narrow ? this.felt.clientWidth - 44 : many ? 172 : 262;
    const step = cards > 1 ? Math.min(width + 3, (room - width) / (cards - 1)) : width;
    made.classList.toggle("tight", step < 0.6 * width);
    style(made, {
      "--x": `${x}%`, "--y": `${y}%`, "--w": `${width}px`, "--seat-width": many ? "12.2rem" : "17.6rem",
      "--step": `${step}px`,
    });
    made.ariaLabel = `${this.names[seat]}${turn ? ", to decide" : ""}`;
    made.append(this.head(moment, seat), this.line(moment, seat), this.hand(moment, seat));
    return made;
  }

  head(moment, seat) {
    const about = this.told.match.seats[seat];
    const link = element("a", "", this.names[seat]);
    link.href = `/bots/${about.bot_id}`;
    link.title = this.names[seat];
    const total = element("span", "total", String(moment.state.scores[seat]).replace("-", "\u2212"));
    total.title = "points in the match";
    return element("div", "who", link, total);
  }

  line(moment, seat) {
    const { state } = moment;
    const line = element("div", "line");
    if (state.bids[seat] === null) line.append(element("span", "", state.turn === seat && state.asked === "bid" ? "is to bid" : "no bid yet"));
    else line.append(this.pips(state, seat), element("span", "", `${state.taken[seat]} of ${state.bids[seat]}`));
    if (moment.did === "score") line.append(chip(signed(state.points[seat] + state.penalties[seat]), "plus", "points in this round"));
    if (moment.dealer === seat) line.append(chip("D", "", "deals"));
    if (state.stakes[seat]) line.append(chip(signed(state.stakes[seat]), "plus", "from Bonus and Mad cards in tricks"));
    if (state.penalties[seat]) line.append(chip(signed(state.penalties[seat]), "fault", "penalty"));
    const flaws = moment.marks.map((mark) => this.told.match.faults[mark]).filter((fault) => fault.seat === seat);
    flaws.forEach((fault) => line.append(chip(`! ${fault.kind}`, "fault", "a fault: the table played for this bot")));
    if (this.isOut(moment, seat) && !flaws.length) line.append(chip("out", "fault", "out: the table plays for this bot"));
    return line;
  }

  isOut(moment, seat) {
    const fault = this.told.match.faults.findIndex((each) => each.seat === seat && each.out);
    if (fault < 0) return false;
    const when = this.all.findIndex((each) => each.marks.includes(fault));
    return this.at >= when;
  }

  pips(state, seat) {
    const bid = state.bids[seat];
    const taken = state.taken[seat];
    const pips = element("span", "pips");
    pips.ariaHidden = "true";
    for (let pip = 0; pip < Math.max(bid, taken); pip += 1) pips.append(element("i", pip >= bid ? "over" : pip < taken ? "won" : ""));
    return pips;
  }

  hand(moment, seat) {
    const { state } = moment;
    const hand = element("div", "hand", ...state.hands[seat].map((text) => card(text)));
    if (!state.hands[seat].length) hand.append(element("span", "nothing", "no cards left"));
    if (state.turn === seat && state.asked === "play") {
      state.may.forEach((index) => hand.children[index].classList.add("may"));
    }
    return hand;
  }

  middle(moment) {
    const { state } = moment;
    const disc = element("span", `disc ${state.trump ?? "none"}`, shape(state.trump));
    const trump = element("div", "trump", disc, state.trump ? `${colourName(state.trump)} is trump` : "no trump");
    const more = element("div", "");
    const facts = [
      state.asked === "bid" && `bid so far: ${bidding(moment)}`,
      state.lead && `${colourName(state.lead)} was led`,
      state.stake && `${signed(state.stake)} lies in the trick`,
      state.asked === "trump" && `${this.names[state.turn]} names the trump`,
    ];
    more.append(facts.filter(Boolean).join(", "));
    const middle = element("div", "middle", trump, more.textContent ? more : null);
    if (state.trump_card) trump.title = `face up: ${cardName(state.trump_card)}`;
    return middle;
  }

  trick(moment) {
    const { state } = moment;
    const row = element("div", "tricks-row");
    const inner = element("div", "trick");
    const far = this.told.players > 6 ? [19, 19] : [14, 16];
    const next = this.all[this.at + 1];
    const winner = next?.did === "take" ? next.seat : null;
    state.trick.forEach((text, turn) => {
      const seat = (state.leader + turn) % this.told.players;
      const [x, y] = this.place(seat, far);
      const newest = this.fresh && moment.did === "play" && turn === state.trick.length - 1;
      const shown = card(text);
      if (seat === winner) shown.classList.add("best");
      const played = element("div", `played${newest ? " fresh" : ""}`, chip(String(turn + 1), "order", ""), shown);
      const angle = Math.PI / 2 + (2 * Math.PI * seat) / this.told.players;
      style(played, { "--px": `${x}%`, "--py": `${y}%`, "--w": this.told.players > 6 ? "46px" : "62px", "--dx": `${50 * Math.cos(angle)}px`, "--dy": `${50 * Math.sin(angle)}px` });
      played.dataset.who = this.names[seat];
      inner.append(played);
    });
    row.append(inner);
    return row;
  }
}

function chip(text, className, title) {
  const made = element("span", `chip ${className}`, text);
  if (title) made.title = title;
  return made;
}

function style(target, values) {
  for (const [name, value] of Object.entries(values)) target.style.setProperty(name, value);
}

/** The cards of a hand in the lists of what others did with it. */
function dealtHands(told) {
  for (const place of document.querySelectorAll("[data-hand]")) {
    const [round, seat] = place.dataset.hand.split(".").map(Number);
    place.append(...told.rounds[round - 1].steps[0].hands[seat].map((text) => card(text)));
  }
}

const root = document.querySelector(".player");
if (root) {
  const felt = root.querySelector("[data-part=felt]");
  try {
    const answer = await fetch(root.dataset.story);
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    const told = await answer.json();
    dealtHands(told);
    root.replay = new Replay(root, told);
  } catch (error) {
    felt.replaceChildren(element("p", "empty", `The match could not be loaded: ${error.message}. Reload the page to try again.`));
  }
}
