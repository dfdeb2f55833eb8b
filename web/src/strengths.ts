/** What a person's changes make of the figures of a tree, as nodes/adaptive_reasoning_tree/argument_tree.py. */

import type { Comparison, Fields, Node } from "./record";

/** No change yet: own strengths, arguments left out with all below, comparisons (`PRO:CON`) turned or voided. */
export const noChanges = () => ({
  set: new Map<string, number>(), dropped: new Set<string>(), flipped: new Set<string>(), voided: new Set<string>(),
});
export type Changes = ReturnType<typeof noChanges>;

type Weight = { theta?: number; blended?: number; strength?: number };
type Combine = (base: number, supporters: number[], attackers: number[]) => number;
const product = (values: number[]) => values.reduce((all, one) => all * (1 - one), 1);
const sum = (values: number[]) => values.reduce((all, one) => all + one, 0);
const h = (x: number) => Math.max(0, x) ** 2 / (1 + Math.max(0, x) ** 2);

/** DF-QuAD (ART Eq. 4 and 5); the quadratic energy model and the Euler-based semantics, from ArgLLM. */
const SEMANTICS: { [name: string]: Combine } = {
  dfquad(base, supporters, attackers) {
    const alpha = product(supporters) - product(attackers);
    return base - alpha * (alpha > 0 ? base : 1 - base);
  },
  quadratic_energy(base, supporters, attackers) {
    const e = sum(supporters) - sum(attackers);
    return base + (1 - base) * h(e) - base * h(-e);
  },
  euler(base, supporters, attackers) {
    if (!supporters.length && !attackers.length) return base;
    const e = Math.min(700, sum(supporters) - sum(attackers));
    return 1 - (1 - base ** 2) / (1 + base * Math.exp(e));
  },
};

const SIDES = ["support", "attack"] as const;
/** Return the side that won a comparison; null for a tie. */
export const winner = (met: Comparison) => SIDES.find((side) => side === met.winner.toLowerCase()) ?? null;

/** How often each one won against each other one, of how many times they met. */
type Tallies = Map<string, Map<string, { won: number; of: number }>>;

/** Count the comparisons of a node as a person changed them: a tie is half a win for each, or for nobody. */
function tallies(node: Node, changes: Changes, half: boolean): Tallies {
  const counts: Tallies = new Map();
  const count = (one: string, other: string, points: number) => {
    const row = counts.get(one) ?? new Map<string, { won: number; of: number }>();
    const { won, of } = row.get(other) ?? { won: 0, of: 0 };
    counts.set(one, row.set(other, { won: won + points, of: of + 1 }));
  };
  for (const one of node.comparisons) {
    const pair = `${one.supporter}:${one.attacker}`;
    const won = winner(one);
    if (one.contested === "voided" || changes.voided.has(pair) || !(won || half)) continue;
    const points = won ? Number((won === "support") !== changes.flipped.has(pair)) : 0.5;
    count(one.supporter, one.attacker, points);
    count(one.attacker, one.supporter, 1 - points);
  }
  return counts;
}

const over = <V, W>(all: Map<string, V>, make: (value: V, id: string) => W) =>
  new Map([...all].map(([id, value]) => [id, make(value, id)]));
/** Each one's mean win rate over those that it met. */
const winRates = (counts: Tallies) =>
  over(counts, (row) => sum([...row.values()].map(({ won, of }) => won / of)) / row.size);

/** Bradley-Terry by MM steps from a uniform start (ART Eq. 2), as nodes/adaptive_reasoning_tree/bradley_terry.py. */
function bradleyTerry(counts: Tallies): Map<string, number> {
  let theta = over(counts, () => 1 / counts.size);
  for (let step = 0, moved = 1; moved >= 1e-8 && step < 100; step++) {
    const points = over(counts, (row, id) => {
      const won = sum([...row.values()].map((one) => one.won));
      return won && won / (sum([...row].map(([other, { of }]) => of / (theta.get(id)! + theta.get(other)!))) + 1e-12);
    });
    const total = sum([...points.values()]) || 1;
    const before = theta;
    theta = over(points, (one) => one / total);
    moved = Math.max(0, ...over(theta, (one, id) => Math.abs(one - before.get(id)!)).values());
  }
  return theta;
}

function blend(tau: number | undefined, theta: number | undefined, share: number): number | undefined {
  if (theta === undefined || share === 1) return theta ?? tau;
  return tau === undefined ? undefined : Math.min(1, Math.max(0, (1 - share) * tau + share * theta));
}

/** A strength nearer to one half is one half, as rounding may miss an exact balance. */
const balanced = (strength: number | undefined) =>
  strength !== undefined && Math.abs(strength - 0.5) < 1e-12 ? 0.5 : strength;

/** What the comparisons of a node make of its children, as they were ruled: a slider leaves them alone. */
const thetas = new WeakMap<Node, Map<string, number>>();

/** Return the weights of all arguments and claims with a person's changes; `settings` are those of the weighing. */
export function strengths(nodes: Map<string, Node>, root: string, settings: Fields, changes: Changes) {
  const share = (settings.blend as number | null) ?? 0.5;
  const rates = (settings.strength_rule ?? "win_rate") === "win_rate";
  const limit = (settings.prune_below as number | null) ?? 0;
  const combine = SEMANTICS[String(settings.semantics)] ?? SEMANTICS.dfquad!;
  const below = (node: Node) => node.children.flatMap((id) => nodes.get(id) ?? []);
  const out = (node: Node) => node.dropped || changes.dropped.has(node.id);
  /** Whether every argument of one side of a claim lacks the weight that it needs. */
  const lost = (claim: Node, weight: (node: Node) => number | undefined) =>
    SIDES.some((side) => {
      const counted = below(claim).filter((node) => node.stance === side && !out(node));
      return counted.length > 0 && counted.every((node) => weight(node) === undefined);
    });
  // The claims are the root, or those below it that are no argument about it.
  const top = nodes.get(root)!;
  const claims = below(top).filter((node) => node.kind === "claim");
  const tops = claims.length ? claims : [top];
  const weights = new Map<string, Weight>();
  const recorded = !changes.flipped.size && !changes.voided.size;
  /** What the comparisons of a node make of its children; where none was held, none counts. */
  const thetaOf = (node: Node) => {
    if (!share || !node.comparisons.length) return new Map<string, number>();
    const counts = () => tallies(node, changes, rates || settings.ties === "half");
    const theta = (recorded && thetas.get(node)) || (rates ? winRates(counts()) : bradleyTerry(counts()));
    if (recorded) thetas.set(node, theta);
    return theta;
  };
  const weigh = (node: Node, theta?: number): Weight => {
    const own = thetaOf(node);
    const sides = { support: [] as number[], attack: [] as number[] };
    for (const one of below(node).filter((child) => child.stance)) {
      const { blended, strength } = weigh(one, own.get(one.id));
      if (!out(one) && (blended ?? -1) >= limit) sides[one.stance!].push(strength!);
    }
    const blended = blend(changes.set.get(node.id) ?? node.scores.tau, theta, share);
    const strength = blended === undefined ? undefined : combine(blended, sides.support, sides.attack);
    const weight = { theta, blended, strength };
    weights.set(node.id, weight);
    return weight;
  };
  for (const claim of tops) {
    const weight = weigh(claim);
    const unheard = claim.scores.strength === undefined && !lost(claim, (node) => node.scores.blended);
    const none = unheard || lost(claim, (node) => weights.get(node.id)?.blended);
    weight.strength = none ? undefined : balanced(weight.strength);
  }
  if (claims.length) {
    const known = tops.flatMap((claim) => weights.get(claim.id)!.strength ?? []);
    weights.set(root, { strength: known.length ? balanced(sum(known) / known.length) : undefined });
  }
  return weights;
}

/** Return the confidences that a tree of questions gets by its own (or those in `set`) times the lowest below. */
export function confidences(nodes: Map<string, Node>, root: string, set: Map<string, number>) {
  const found = new Map<string, number>();
  const walk = (id: string): void => {
    const node = nodes.get(id);
    node?.children.forEach(walk);
    const own = set.get(id) ?? node?.verdict?.local_confidence;
    const below = node?.children.filter((child) => nodes.get(child)?.verdict?.answer != null) ?? [];
    const figures = below.map((child) => found.get(child) ?? NaN);
    if (own !== undefined && !figures.includes(NaN)) found.set(id, own * Math.min(1, ...figures));
  };
  walk(root);
  return found;
}
