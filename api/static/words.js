// What happens in a match, in words: a sentence for every moment.

import { cardName, colourName } from "./cards.js";

export const signed = (number) => (number > 0 ? `+${number}` : String(number).replace("-", "\u2212"));

const many = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;
const points = ({ state }) => state.points.map((each, seat) => each + state.penalties[seat]);
const list = (names, numbers) => numbers.map((number, seat) => `${names[seat]} ${signed(number)}`).join(", ");

/** The sentence of a moment; `names` are those of the seats, `last` says that the match ends with it. */
export function words(moment, match, names, last) {
  const { state } = moment;
  const who = names[moment.seat];
  return {
    deal: () => `${who} deals ${many(moment.size, "card")} to each. ${state.trump ? `Trump is ${colourName(state.trump)}.` : "There is no trump."}`,
    bid: () => `${who} bids ${moment.move}.${state.bids.includes(null) ? "" : ` All have bid: ${bidding(moment)}.`}`,
    play: () => `${who} ${state.trick.length === 1 ? "leads" : "plays"} ${cardName(state.trick.at(-1) ?? moment.move)}.`,
    trump: () => `${who} makes ${colourName(moment.move)} trump.`,
    challenge: () => `${who} challenges. Penalties now: ${list(names, state.penalties)}.`,
    pass: () => `Nobody challenges (${moment.seats.length} asked).`,
    take: () => `${who} takes the trick, and has ${state.taken[moment.seat]} of ${state.bids[moment.seat]} bid.`,
    score: () => `The round is over. Points: ${list(names, points(moment))}.${last ? ` ${outcome(match, names)}` : ""}`,
  }[moment.did]() + moment.marks.map((mark) => failure(match.faults[mark], names)).join("");
}

/** How much was bid beside the tricks there are: where that is not even, somebody must miss. */
export function bidding({ state, size }) {
  const sum = state.bids.reduce((all, bid) => all + (bid ?? 0), 0);
  return `${sum} of ${many(size, "trick")}`;
}

function failure(fault, names) {
  return ` ${names[fault.seat]} failed here: ${fault.kind}${fault.out ? ", and is out" : ""}; the table played for it.`;
}

function outcome(match, names) {
  const winners = match.seats.filter((seat) => seat.place === 1);
  const named = winners.map((seat) => names[seat.seat]).join(" and ");
  return `${named} ${winners.length === 1 ? "wins" : "win"} the match with ${winners[0].score} points.`;
}
