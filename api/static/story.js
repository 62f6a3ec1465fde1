// A match's story as moments. The server's engine computed every state; here they are only put in a row.

/** Every moment of a match: its state, what was done, and where it is (round, trick, step in it). */
export function moments(rounds) {
  const all = [];
  for (const round of rounds) {
    let state = {};
    let trick = 0;
    let step = 0;
    for (const told of round.steps) {
      const { did, seat, move, seats, marks, gave, ...changed } = told;
      state = { ...state, ...changed };
      if (gave) {
        state.hands = state.hands.with(gave[0], state.hands[gave[0]].toSpliced(gave[1], 1));
      }
      const newTrick = did === "play" && state.trick.length === 1 && all.at(-1).state.trick.length === 0;
      if (newTrick) {
        trick += 1;
        step = 0;
      }
      all.push({
        state, did, seat, move, seats, marks: marks ?? [],
        round: round.round, size: round.hand_size, dealer: round.dealer, trick, step,
      });
      step += 1;
    }
  }
  return all;
}

/** The address of a moment: #r3t2d5, the sixth step of the second trick of round 3; trick 0 is the bidding. */
export const address = (moment) => `#r${moment.round}t${moment.trick}d${moment.step}`;

/** The number of the moment that an address names; null if it names none. `#s2d38`: seat 2's decision 38, a fault. */
export function find(all, faults, hash) {
  const fault = /^#s(\d+)d(\d+)$/.exec(hash);
  if (fault) {
    const index = faults.findIndex((each) => each.seat === Number(fault[1]) && each.decision === Number(fault[2]));
    const at = all.findIndex((moment) => moment.marks.includes(index));
    return at < 0 ? null : at;
  }
  const parts = /^#r(\d+)(?:t(\d+)(?:d(\d+))?)?$/.exec(hash);
  if (!parts) return null;
  const [round, trick, step] = parts.slice(1).map((part) => (part === undefined ? null : Number(part)));
  const at = all.findIndex(
    (moment) => moment.round === round && (trick === null || moment.trick === trick) && (step === null || moment.step === step),
  );
  return at < 0 ? null : at;
}

/** Where a jump in direction +1 or -1 ends: at the first moment of the next, this or last stretch alike in `key`. */
export function jump(all, at, direction, key) {
  let found = direction > 0 ? at : Math.max(at - 1, 0);
  const here = key(all[found]);
  if (direction > 0) {
    while (found < all.length - 1 && key(all[found]) === here) found += 1;
  } else {
    while (found > 0 && key(all[found - 1]) === here) found -= 1;
  }
  return found;
}

export const roundOf = (moment) => moment.round;
export const trickOf = (moment) => `${moment.round}.${moment.trick}`;
