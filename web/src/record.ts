/** The shapes of run.json and of a line of events.jsonl, as far as the page reads them. */

export type Json = null | boolean | number | string | Json[] | Fields;
export type Fields = { [name: string]: Json };
export type Texts = { [name: string]: string };
export type Stance = "support" | "attack";

export interface Verdict {
  answer: string | null; label: string | null; confidence: number | null; confidence_source: string | null;
  rationale: string | null; notes: string[]; agreement?: number; dissent?: Texts; local_confidence?: number;
  winner?: string; take?: number; probability?: number;
}
interface Place { node: string; phase: string; role: string; speaker: string; round: number; step: number; take: number; }
export interface Turn extends Place {
  side: string | null; label: string | null; names: string | null; protocol: string; fields: Fields;
}
export interface Call extends Place {
  repair: number; prompt: string; model: string; attempts: number; started: string; ended: string; source: string;
  prompt_tokens: number; completion_tokens: number; cost: number | null; reply: string | null; error: string | null;
  sent?: { messages?: [string, string][]; served?: string };
}
export interface Comparison {
  supporter: string; attacker: string; winner: string; order: string; reason: string; contested: string | null;
}
export interface Segment { id: string; text: string; page: number | null; heading: string | null; contested: boolean; }
export interface Retrieval { paper: string; of: string; query: string; found: { id: string; score: number }[]; }
export interface Failure { role: string; speaker: string; fault: string; }
export interface Node {
  id: string; parent: string | null; children: string[]; kind: string; in_turn: boolean; protocol: string;
  round: number; text: string; stance: Stance | null; depth: number; status: "open" | "answered" | "missing";
  stopped: string | null; verdict: Verdict | null; earlier: Verdict[]; provenance: string[];
  scores: { [name: string]: number }; transcript: Turn[]; comparisons: Comparison[]; retrievals: Retrieval[];
  notes: string[]; failures: Failure[]; data: Fields; dropped: boolean; added: boolean;
}
export interface Usage {
  calls: number; calls_from_cache: number; prompt_tokens: number; completion_tokens: number; cost: number | null;
  wall_s: number; critical_path_calls: number;
}
export interface DeclaredPhase { role: string; phase?: string; captions?: Texts; editable?: string[]; }
export interface Score { sign: string; meaning: string; above?: string; at_root?: [string, string]; beside?: string; }
export interface Look {
  facing?: string[]; together?: string[]; side?: string; tasks?: Texts; stops?: Texts;
  scores?: { [name: string]: Score }; signs?: string; weighing?: string[]; comparing?: string[];
}
export interface Order { phases?: string[]; closing?: string[]; }
export interface Declared {
  title: string; method?: string; summary?: string; view?: string; unit?: string; order?: Order; look?: Look;
  phases?: DeclaredPhase[];
}
export interface Tree { nodes: { [id: string]: Node }; segments: { [id: string]: Segment }; }
export interface Moved { node: string; before: Verdict | null; after: Verdict | null; }
export interface Contest {
  run: string; changes: string[]; before: number | null; after: number | null; why: string; moved?: Moved[];
}
export interface RunRecord {
  run_id: string; thread?: string | null; protocol: string; method: string; status: string; demonstration: boolean;
  input: Fields; settings: Fields; models: Texts; declared: { [protocol: string]: Declared }; contest: Contest | null;
  verdict: Verdict | null; tree: Tree; usage: Usage; notices: string[]; started: string; ended: string | null;
}
/** What a list shows of a run. */
export interface Head {
  run_id: string; protocol: string; method: string; status: string; question: string; verdict: Verdict | null;
  contests: string | null; evaluated: { evaluation: string; row: string; item: string } | null; waits: boolean;
  started: string; calls: number; cost: number | null;
}
export interface Event { n: number; t: string; run_id: string; node: string; kind: string; data: Fields; }
