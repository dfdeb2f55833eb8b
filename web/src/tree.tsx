/** The tree: an overview of all of it, and rows that fold. Only the rows in sight are there. */

import { computed } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { changes, fold, hasMoved, hits, isOut, nodes, pick, picked, recorded, ROOT, type Row, rows, share, shut } from "./model";
import { Figure, Stance } from "./parts";

const HEIGHT = 54;
const STRIP = 56;

/** Do something at each drawing, and whenever the element has another size. */
function useSize<T extends Element>(of: RefObject<T | null>, work: (of: T) => void): void {
  useEffect(() => {
    const one = of.current;
    const seen = new ResizeObserver(() => work(one!)); // calls at once, too
    if (one) seen.observe(one);
    return () => seen.disconnect();
  });
}

/** Where each node stands in the overview: a leaf is one unit wide, a node as wide as its leaves. */
const layout = computed(() => {
  const places: { id: string; x: number; width: number; level: number }[] = [];
  let width = 0;
  let levels = 0;
  const walk = (id: string, level: number): void => {
    const node = nodes.value.get(id);
    if (!node) return;
    const place = { id, x: width, width: 1, level };
    places.push(place);
    levels = Math.max(levels, level + 1);
    for (const child of node.children) walk(child, level + 1);
    width = Math.max(width, place.x + 1);
    place.width = width - place.x;
  };
  walk(ROOT, 0);
  return { places, width, levels };
});

function Overview() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const all = nodes.value;
  const { places, width, levels } = layout.value;
  const now = picked.value;
  void changes.value;
  useSize(canvas, (to) => {
    to.width = to.clientWidth * devicePixelRatio;
    to.height = STRIP * devicePixelRatio;
    const pen = to.getContext("2d")!;
    const style = getComputedStyle(to);
    const [first, second, ink] = ["--first", "--second", "--ink"].map((name) => style.getPropertyValue(name));
    const unit = to.width / width;
    const high = to.height / levels;
    for (const place of places) {
      const node = all.get(place.id)!;
      const value = isOut(node) ? 0 : share(node);
      const [x, y, wide] = [place.x * unit, place.level * high, place.width * unit];
      pen.globalAlpha = value === undefined ? 0.25 : 0.2 + 0.8 * value;
      pen.fillStyle = node.stance === "attack" ? second! : first!;
      pen.fillRect(x, y, Math.max(0.6, wide - 1), high - 1);
      if (place.id !== now) continue;
      pen.globalAlpha = 1;
      pen.strokeStyle = ink!;
      pen.lineWidth = 2;
      pen.strokeRect(x + 1, y + 1, Math.max(2, wide - 3), high - 3);
    }
  });
  if (all.size < 4) return null;
  const choose = (event: MouseEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * width;
    const level = Math.floor(((event.clientY - box.top) / box.height) * levels);
    const there = places.find((place) => place.level === level && x >= place.x && x < place.x + place.width);
    if (there) pick(there.id);
  };
  const name = `Overview of the tree: ${all.size} nodes on ${levels} levels`;
  const sides = [...all.values()].some((one) => one.stance);
  return (
    <div class="strip">
      <canvas ref={canvas} role="img" aria-label={name} onClick={choose} />
      <p class="soft">
        {sides ? <><i class="swatch" /> for <i class="swatch attack" /> against: the darker, the stronger</>
          : "Each block is a part: the darker, the surer"}
      </p>
    </div>
  );
}

function RowView({ node, level, below, top, chosen }: Row & { top: number; chosen: boolean }) {
  const value = share(node);
  const [folded, moved] = [shut.value.has(node.id), hasMoved(node)];
  return (
    <div
      id={`row-${node.id}`} title={node.id}
      class={`row ${hits.value?.has(node.id) ? "hit" : ""} ${isOut(node) ? "void" : ""} ${moved ? "tried" : ""}`}
      role="treeitem" aria-level={level + 1} aria-expanded={below ? !folded : undefined} aria-selected={chosen}
      style={`top: ${top}px; padding-left: ${8 + Math.min(level, 12) * 14}px`}
    >
      <span class="twist" aria-hidden="true">{below ? (folded ? "▸" : "▾") : ""}</span>
      <span class="words"><Stance of={node.stance} /><bdi>{node.text}</bdi></span>
      <span class="mark">
        {value === undefined
          ? <span class="soft">{{ answered: "", missing: "no answer", open: "open" }[node.status]}</span>
          : <Figure value={value} stance={node.stance} was={moved ? recorded(node) : undefined} />}
      </span>
    </div>
  );
}

export function Tree() {
  const box = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [[from, to], setSeen] = useState([0, 20]);
  const all = rows.value;
  const place = all.findIndex((row) => row.node.id === picked.value);
  const look = () => {
    if (!box.current) return; // a scroll may be told after the tree is gone
    const { scrollTop, clientHeight } = box.current;
    const first = Math.max(0, Math.floor((scrollTop - list.current!.offsetTop) / HEIGHT) - 1);
    const last = first + Math.ceil(clientHeight / HEIGHT) + 3;
    if (first !== from || last !== to) setSeen([first, last]);
  };
  useSize(box, look);
  useEffect(() => {
    const pane = box.current!;
    const top = place * HEIGHT;
    const room = pane.clientHeight - list.current!.offsetTop;
    const inSight = top >= pane.scrollTop && top + HEIGHT <= pane.scrollTop + room;
    if (place >= 0 && !inSight) pane.scrollTop = Math.max(0, top - room / 2);
  }, [picked.value]);
  const click = ({ target }: MouseEvent) => {
    const row = all[from + [...list.current!.children].indexOf((target as Element).closest(".row")!)];
    if (row?.below && (target as Element).matches(".twist")) fold(row.node.id);
    else if (row) pick(row.node.id);
  };
  const key = (event: KeyboardEvent) => {
    const row = all[place];
    const folded = shut.value.has(row?.node.id ?? "");
    const to: { [key: string]: string | null | undefined } = {
      ArrowDown: all[place + 1]?.node.id, ArrowUp: all[place - 1]?.node.id,
      Home: all[0]?.node.id, End: all.at(-1)?.node.id, Enter: row?.node.id,
      ArrowRight: row?.below ? all[place + 1]?.node.id : null, ArrowLeft: row?.node.parent,
    };
    if (!(event.key in to)) return;
    event.preventDefault();
    if (row?.below && event.key === (folded ? "ArrowRight" : "ArrowLeft")) fold(row.node.id);
    else if (to[event.key]) pick(to[event.key]!, "", event.key === "Enter");
  };
  return (
    <div class="pane tree" ref={box} onScroll={look}>
      <Overview />
      <div
        ref={list} class="rows" style={`height: ${all.length * HEIGHT}px`} onClick={click} onKeyDown={key}
        role="tree" aria-label="The tree" tabIndex={0}
        aria-activedescendant={place >= from && place < to ? `row-${picked.value}` : undefined}
      >
        {all.slice(from, to).map((row, n) => (
          <RowView key={(from + n) % (to - from)} {...row} top={(from + n) * HEIGHT} chosen={from + n === place} />
        ))}
      </div>
    </div>
  );
}
