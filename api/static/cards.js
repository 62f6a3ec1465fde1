// Cards as elements: the number, the colour as a letter-free shape and a hue, and the name for who cannot see.

const SVG = "http://www.w3.org/2000/svg";
const COLOURS = { R: "red", O: "orange", Y: "yellow", G: "green", B: "blue", P: "purple" };
const WORDS = {
  WILD: ["WILD", "Wild", "\u2605"], BONUS: ["BONUS", "Bonus Rage, plus five", "+5"], MAD: ["MAD", "Mad Rage, minus five", "\u22125"],
  CHANGE: ["CHANGE", "Change Rage", "\u21c4"], OUT: ["OUT", "Out Rage", "\u2205"],
};

export function element(name, className, ...inside) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...inside.filter((each) => each !== null && each !== undefined));
  return made;
}

export function shape(colour, className) {
  const svg = document.createElementNS(SVG, "svg");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#shape-${colour ?? "none"}`);
  svg.setAttribute("class", className ?? "");
  svg.setAttribute("aria-hidden", "true");
  svg.append(use);
  return svg;
}

export const colourName = (letter) => COLOURS[letter] ?? "no trump";

/** A card in words: "blue 12", "Wild as red", "Change Rage". */
export function cardName(text) {
  const [card, called] = text.split(":");
  if (card === "WILD" && called) {
    return `Wild as ${COLOURS[called[0]]}${called.length > 1 ? ` ${called.slice(1)}` : ""}`;
  }
  return WORDS[card]?.[1] ?? `${COLOURS[card[0]]} ${card.slice(1)}`;
}

/** A card as it lies on the table. */
export function card(text) {
  const [name, called] = text.split(":");
  const made = element("span", "card");
  made.title = cardName(text);
  made.append(element("span", "sr", cardName(text)));
  if (WORDS[name]) {
    made.classList.add(name === "WILD" ? "wild" : "word");
    const word = element("span", "rank", WORDS[name][0]);
    word.ariaHidden = "true";
    made.append(word);
    if (called) {
      made.classList.add("called", called[0]);
      if (called.length > 1) made.append(element("span", "called-rank", called.slice(1)));
      made.append(shape(called[0], "big"));
    } else {
      const sign = element("span", "sign", WORDS[name][2]);
      sign.ariaHidden = "true";
      made.append(sign);
    }
    return made;
  }
  made.classList.add(name[0]);
  const rank = element("span", "rank", name.slice(1));
  rank.ariaHidden = "true";
  made.append(rank, shape(name[0], "pip"), shape(name[0], "big"));
  return made;
}
