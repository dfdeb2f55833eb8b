/** The tree: an overview of all of it, and rows that fold. Only the rows in sight are there. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Bar } from "./turns";
import { changes, fold, hits, isOut, nodes, pick, picked, ROOT, rows, share, shut } from "./model";
import type { Row } from "./model";
import type { Node } from "./record";
import { figure } from "./words";

const HEIGHT = 54;
const STRIP = 56;

interface Place {
  x: number;
  width: number;
  level: number;
}

/** A leaf is one unit wide, a node as wide as its leaves. */
function layout(all: Map<string, Node>) {
  const places = new Map<string, Place>();
  let x = 0;
  let levels = 1;
  const walk = (id: string, level: number): void => {
    const node = all.get(id);
    if (!node || places.has(id)) return;
    levels = Math.max(levels, level + 1);
    const place = { x, width: 1, level };
    places.set(id, place);
    const below = node.children.filter((child) => all.has(child));
    below.forEach((child) => walk(child, level + 1));
    if (!below.length) x++;
    place.width = Math.max(1, x - place.x);
  };
  walk(ROOT, 0);
  return { places, width: Math.max(1, x), levels };
}

function Overview() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const shape = useRef(layout(nodes.value));
  const all = nodes.value;
  const now = picked.value;
  void changes.value;
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      const to = canvas.current;
      if (!to) return;
      shape.current = layout(all);
      const { places, width, levels } = shape.current;
      to.width = to.clientWidth * devicePixelRatio;
      to.height = STRIP * devicePixelRatio;
      const pen = to.getContext("2d")!;
      const style = getComputedStyle(to);
      const color = (name: string) => style.getPropertyValue(name);
      const unit = to.width / width;
      const high = to.height / levels;
      for (const [id, place] of places) {
        const node = all.get(id)!;
        const value = isOut(node) ? 0 : share(node);
        pen.globalAlpha = value === undefined ? 0.25 : 0.2 + 0.8 * value;
        pen.fillStyle = color(node.stance === "attack" ? "--second" : "--first");
        pen.fillRect(place.x * unit, place.level * high, Math.max(0.6, place.width * unit - 1), high - 1);
        if (id !== now) continue;
        pen.globalAlpha = 1;
        pen.strokeStyle = color("--ink");
        pen.lineWidth = 2;
        pen.strokeRect(place.x * unit + 1, place.level * high + 1, Math.max(2, place.width * unit - 3), high - 3);
      }
    });
    return () => cancelAnimationFrame(frame);
  });
  if (all.size < 4) return null;
  const choose = (event: MouseEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    const { places, width, levels } = shape.current;
    const x = ((event.clientX - box.left) / box.width) * width;
    const level = Math.floor(((event.clientY - box.top) / box.height) * levels);
    for (const [id, place] of places)
      if (place.level === level && x >= place.x && x < place.x + place.width) pick(id);
  };
  return (
    <canvas
      ref={canvas}
      class="strip"
      role="img"
      aria-label={`Overview of the tree: ${all.size} nodes on ${shape.current.levels} levels`}
      onClick={choose}
    />
  );
}

function RowView({ row, top }: { row: Row; top: number }) {
  const { node, level, below } = row;
  const value = share(node);
  const kind = [hits.value?.has(node.id) ? "hit" : "", isOut(node) ? "void" : ""].join(" ");
  return (
    <div
      id={`row-${node.id}`}
      class={`row ${kind}`}
      role="treeitem"
      aria-level={level + 1}
      aria-expanded={below ? !shut.value.has(node.id) : undefined}
      aria-selected={picked.value === node.id}
      style={{ top: `${top}px`, paddingLeft: `${8 + Math.min(level, 12) * 14}px` }}
      onClick={() => pick(node.id)}
    >
      <span
        class="twist"
        aria-hidden="true"
        onClick={(event) => {
          event.stopPropagation();
          if (below) fold(node.id);
        }}
      >
        {below ? (shut.value.has(node.id) ? "▸" : "▾") : ""}
      </span>
      <span class="words">
        <span class="id">{node.id}</span>
        {node.stance && <span class={`stance ${node.stance}`}>{node.stance === "support" ? " ✓ for " : " ✗ against "}</span>}{" "}
        <bdi>{node.text}</bdi>
      </span>
      <span class="mark">
        {value === undefined ? (
          <span class="soft">{node.status === "answered" ? "" : node.status === "missing" ? "none" : "open"}</span>
        ) : (
          <><Bar value={value} stance={node.stance} /><span class="share">{figure(value)}</span></>
        )}
      </span>
    </div>
  );
}

export function Tree() {
  const box = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState<[number, number]>([0, 20]);
  const all = rows.value;
  const place = all.findIndex((row) => row.node.id === picked.value);
  const look = () => {
    const pane = box.current!;
    const from = Math.max(0, Math.floor((pane.scrollTop - list.current!.offsetTop) / HEIGHT) - 4);
    const to = from + Math.ceil(pane.clientHeight / HEIGHT) + 8;
    if (from !== seen[0] || to !== seen[1]) setSeen([from, to]);
  };
  useLayoutEffect(look);
  useEffect(() => {
    addEventListener("resize", look);
    return () => removeEventListener("resize", look);
  });
  useEffect(() => {
    const pane = box.current!;
    if (place < 0) return;
    const top = place * HEIGHT;
    const room = pane.clientHeight - list.current!.offsetTop;
    if (top < pane.scrollTop || top + HEIGHT > pane.scrollTop + room) pane.scrollTop = Math.max(0, top - room / 2);
  }, [picked.value]);
  const key = (event: KeyboardEvent) => {
    const row = all[place];
    let to: string | null | undefined;
    if (event.key === "ArrowDown") to = all[place + 1]?.node.id;
    else if (event.key === "ArrowUp") to = all[place - 1]?.node.id;
    else if (event.key === "Home") to = all[0]?.node.id;
    else if (event.key === "End") to = all.at(-1)?.node.id;
    else if (event.key === "ArrowRight" && row?.below && shut.value.has(row.node.id)) fold(row.node.id);
    else if (event.key === "ArrowRight" && row?.below) to = all[place + 1]?.node.id;
    else if (event.key === "ArrowLeft" && row?.below && !shut.value.has(row.node.id)) fold(row.node.id);
    else if (event.key === "ArrowLeft") to = row?.node.parent;
    else if (event.key === "Enter" && row) to = row.node.id;
    else return;
    event.preventDefault();
    if (to) pick(to, "", event.key === "Enter");
  };
  const inSight = place >= seen[0] && place < seen[1];
  return (
    <div class="pane tree" ref={box} onScroll={look}>
      <Overview />
      <div
        ref={list}
        class="rows"
        role="tree"
        aria-label="The tree"
        tabIndex={0}
        aria-activedescendant={inSight ? `row-${picked.value}` : undefined}
        onKeyDown={key}
        style={{ height: `${all.length * HEIGHT}px` }}
      >
        {all.slice(...seen).map((row, n) => <RowView key={row.node.id} row={row} top={(seen[0] + n) * HEIGHT} />)}
      </div>
    </div>
  );
}

