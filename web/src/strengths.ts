/**
 * What a person's changes make of the figures of a tree, as dialectree/maths: τ and θ are blended
 * and carried to the claim; the confidences of a tree of questions multiply upward.
 */

import type { Comparison, Fields, Node } from "./record";

/** The changes of a person, by what they change. */
export interface Changes {
  /** Strengths that an argument, or a claim, has by itself. */
  set: Map<string, number>;
  /** Arguments that are left out, with all below them. */
  dropped: Set<string>;
  /** Comparisons, `SUPPORTER:ATTACKER`, that the other one wins. */
  flipped: Set<string>;
  /** Comparisons that count for nobody. */
  voided: Set<string>;
}

export const noChanges = (): Changes => ({
  set: new Map(),
  dropped: new Set(),
  flipped: new Set(),
  voided: new Set(),
});

export interface Weight {
  theta?: number;
  blended?: number;
  strength?: number;
}

type Combine = (base: number, supporters: number[], attackers: number[]) => number;

const product = (values: number[]) => values.reduce((all, one) => all * (1 - one), 1);
const sum = (values: number[]) => values.reduce((all, one) => all + one, 0);

/** DF-QuAD (ART Eq. 4 and 5). */
const dfquad: Combine = (base, supporters, attackers) => {
  const alpha = product(supporters) - product(attackers);
  return base - alpha * (alpha > 0 ? base : 1 - base);
};

const h = (x: number) => {
  const square = Math.max(0, x) ** 2;
  return square / (1 + square);
};

/** The quadratic energy model, from ArgLLM. */
const energy: Combine = (base, supporters, attackers) => {
  const e = sum(supporters) - sum(attackers);
  return base + (1 - base) * h(e) - base * h(-e);
};

/** The Euler-based semantics, from ArgLLM. */
const euler: Combine = (base, supporters, attackers) => {
  if (!supporters.length && !attackers.length) return base;
  const e = Math.min(700, sum(supporters) - sum(attackers));
  return 1 - (1 - base ** 2) / (1 + base * Math.exp(e));
};

const SEMANTICS: { [name: string]: Combine } = { dfquad, quadratic_energy: energy, euler };

interface Tallies {
  supporters: string[];
  attackers: string[];
  wins: number[][];
  losses: number[][];
}

const zeros = (rows: number, columns: number) => Array.from({ length: rows }, () => Array<number>(columns).fill(0));

/** Count the comparisons: a tie is half a win for each, or for nobody. */
function tallies(met: Comparison[], half: boolean): Tallies {
  const supporters = [...new Set(met.map((one) => one.supporter))].sort();
  const attackers = [...new Set(met.map((one) => one.attacker))].sort();
  const wins = zeros(supporters.length, attackers.length);
  const losses = zeros(supporters.length, attackers.length);
  const tie = half ? 0.5 : 0;
  for (const one of met) {
    const row = supporters.indexOf(one.supporter);
    const column = attackers.indexOf(one.attacker);
    const won = winner(one);
    wins[row]![column]! += won === "support" ? 1 : won ? 0 : tie;
    losses[row]![column]! += won === "attack" ? 1 : won ? 0 : tie;
  }
  return { supporters, attackers, wins, losses };
}

/** Return the side that won a comparison; null for a tie. */
export function winner(met: Comparison): "support" | "attack" | null {
  const name = met.winner.toLowerCase();
  return name === "support" || name === "attack" ? name : null;
}

const turned = (rows: number[][], columns: number) =>
  Array.from({ length: columns }, (_, j) => rows.map((row) => row[j]!));

/** Each one's mean win rate over those that it met. */
function winRates({ supporters, attackers, wins, losses }: Tallies): Map<string, number> {
  const rates = new Map<string, number>();
  const count = (ids: string[], won: number[][], lost: number[][]) =>
    ids.forEach((id, i) => {
      const of = won[i]!.map((w, j) => [w, w + lost[i]![j]!] as const).filter(([, n]) => n > 0);
      if (of.length) rates.set(id, sum(of.map(([w, n]) => w / n)) / of.length);
    });
  count(supporters, wins, losses);
  count(attackers, turned(losses, attackers.length), turned(wins, attackers.length));
  return rates;
}

/** Bradley-Terry by MM steps from a uniform start (ART Eq. 2), as maths/bradley_terry.py. */
function bradleyTerry({ supporters, attackers, wins, losses }: Tallies): Map<string, number> {
  const met = wins.map((row, i) => row.map((w, j) => w + losses[i]![j]!));
  const rows = met.map((row) => row.some((n) => n > 0));
  const columns = attackers.map((_, j) => met.some((row) => row[j]! > 0));
  const entered = [...rows, ...columns].filter(Boolean).length;
  const start = 1 / Math.max(1, entered);
  let up = rows.map((one) => (one ? start : 0));
  let down = columns.map((one) => (one ? start : 0));
  let moved = entered ? Infinity : 0;
  const won = wins.map(sum);
  const lost = turned(losses, attackers.length).map(sum);
  const quotient = (points: number, weight: number) => (points > 0 ? points / weight : 0);
  for (let step = 0; moved >= 1e-8 && step < 100; step++) {
    const share = met.map((row, i) => row.map((n, j) => (n > 0 ? n / (up[i]! + down[j]!) : 0)));
    let newUp = won.map((points, i) => quotient(points, sum(share[i]!) + 1e-12));
    let newDown = turned(share, attackers.length).map((of, j) => quotient(lost[j]!, sum(of) + 1e-12));
    const total = sum(newUp) + sum(newDown);
    if (total > 0) {
      newUp = newUp.map((one) => one / total);
      newDown = newDown.map((one) => one / total);
    }
    moved = Math.max(0, ...newUp.map((v, i) => Math.abs(v - up[i]!)), ...newDown.map((v, j) => Math.abs(v - down[j]!)));
    [up, down] = [newUp, newDown];
  }
  const theta = new Map<string, number>();
  supporters.forEach((id, i) => rows[i] && theta.set(id, up[i]!));
  attackers.forEach((id, j) => columns[j] && theta.set(id, down[j]!));
  return theta;
}

/** Return the comparisons of a node as a person changed them. */
export function compared(node: Node, changes: Changes): Comparison[] {
  return node.comparisons
    .filter((one) => one.contested !== "voided" && !changes.voided.has(`${one.supporter}:${one.attacker}`))
    .map((one) => {
      const won = winner(one);
      if (!won || !changes.flipped.has(`${one.supporter}:${one.attacker}`)) return one;
      return { ...one, winner: won === "support" ? "ATTACK" : "SUPPORT" };
    });
}

function blend(tau: number | undefined, theta: number | undefined, share: number): number | undefined {
  if (theta === undefined) return tau;
  if (share === 1) return theta;
  return tau === undefined ? undefined : Math.min(1, Math.max(0, (1 - share) * tau + share * theta));
}

/** A strength nearer to one half is one half, as rounding may miss an exact balance. */
const balanced = (strength: number | undefined) =>
  strength !== undefined && Math.abs(strength - 0.5) < 1e-12 ? 0.5 : strength;

/** Return the ids of the claims: the root, or those below it that are no argument about it. */
export function claims(nodes: Map<string, Node>, root: string): string[] {
  const below = (nodes.get(root)?.children ?? []).filter((id) => nodes.get(id)?.kind === "claim");
  return below.length ? below : [root];
}

/**
 * Return the weights of all arguments and claims with a person's changes.
 *
 * `nodes` are a whole run's, and `settings` are those with which it was weighed.
 */
export function strengths(
  nodes: Map<string, Node>,
  root: string,
  settings: Fields,
  changes: Changes,
): Map<string, Weight> {
  const share = (settings.blend as number | null) ?? 0.5;
  const rule = settings.strength_rule ?? "win_rate";
  const half = rule === "win_rate" || settings.ties === "half";
  const limit = settings.prune_below as number | null | undefined;
  const combine = SEMANTICS[String(settings.semantics ?? "dfquad")] ?? dfquad;
  const tops = claims(nodes, root);
  const order: Node[] = [];
  const stack = [...tops];
  while (stack.length) {
    const node = nodes.get(stack.pop()!);
    if (!node) continue;
    order.push(node);
    stack.push(...node.children.filter((id) => nodes.get(id)?.stance));
  }
  // Where no comparison was held, none counts.
  const held = share > 0;
  const theta = new Map<string, number>();
  for (const node of order) {
    const met = held ? compared(node, changes) : [];
    if (!met.length) continue;
    const counts = tallies(met, half);
    for (const [id, value] of rule === "win_rate" ? winRates(counts) : bradleyTerry(counts)) theta.set(id, value);
  }
  const weights = new Map<string, Weight>();
  for (const node of order) {
    const tau = changes.set.get(node.id) ?? node.scores.tau;
    const blended = blend(tau, theta.get(node.id), share);
    weights.set(node.id, { theta: theta.get(node.id), blended });
  }
  const out = (node: Node) => node.dropped || changes.dropped.has(node.id);
  for (const node of order.reverse()) {
    const weight = weights.get(node.id)!;
    if (weight.blended === undefined) continue;
    const below = node.children.map((id) => nodes.get(id)!).sort((a, b) => (a.id < b.id ? -1 : 1));
    const sides: { [stance: string]: number[] } = { support: [], attack: [] };
    for (const child of below) {
      const own = weights.get(child.id)?.blended;
      if (!child.stance || own === undefined || out(child) || (limit != null && own < limit)) continue;
      sides[child.stance]!.push(weights.get(child.id)!.strength!);
    }
    weight.strength = combine(weight.blended, sides.support!, sides.attack!);
  }
  for (const id of tops) {
    const weight = weights.get(id);
    if (!weight) continue;
    const unheard = nodes.get(id)!.scores.strength === undefined && !lost(nodes, id, undefined, out);
    weight.strength = unheard || lost(nodes, id, weights, out) ? undefined : balanced(weight.strength);
  }
  if (tops[0] !== root) {
    const known = tops.map((id) => weights.get(id)?.strength).filter((one) => one !== undefined);
    weights.set(root, { strength: known.length ? balanced(sum(known) / known.length) : undefined });
  }
  return weights;
}

/** Return whether every argument of one side of a claim lacks the weight that it needs. */
function lost(
  nodes: Map<string, Node>,
  claim: string,
  weights: Map<string, Weight> | undefined,
  out: (node: Node) => boolean,
): boolean {
  const sides = new Map<string, boolean>();
  for (const id of nodes.get(claim)!.children) {
    const node = nodes.get(id);
    if (!node?.stance || out(node)) continue;
    const weight = weights ? weights.get(id)?.blended : node.scores.blended;
    sides.set(node.stance, (sides.get(node.stance) ?? false) || weight !== undefined);
  }
  return [...sides.values()].includes(false);
}

/**
 * Return the confidences of a tree of questions: a node's own times the lowest below it.
 *
 * Own figures that are in `set` stand for the judge's. A node is left out where its confidence was
 * not reckoned that way.
 */
export function confidences(nodes: Map<string, Node>, root: string, set: Map<string, number>): Map<string, number> {
  const found = new Map<string, number>();
  const walk = (id: string): void => {
    const node = nodes.get(id);
    if (!node) return;
    node.children.forEach(walk);
    const own = set.get(id) ?? node.verdict?.local_confidence;
    const below = node.children.filter((child) => nodes.get(child)?.verdict?.answer != null);
    const figures = below.map((child) => found.get(child));
    if (own === undefined || figures.includes(undefined)) return;
    found.set(id, own * Math.min(1, ...(figures as number[])));
  };
  walk(root);
  return found;
}
