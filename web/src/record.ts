/** The shapes of run.json and of a line of events.jsonl. */

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type Fields = { [name: string]: Json };
export type Stance = "support" | "attack";

export type Texts = { [hash: string]: string };

export interface Verdict {
  answer: string | null; label: string | null; confidence: number | null; confidence_source: string | null;
  rationale: string | null; notes: string[]; agreement?: number; dissent?: { [judge: string]: string };
  local_confidence?: number; winner?: string; take?: number; probability?: number;
}
export interface Place {
  node: string; phase: string; role: string; speaker: string; round: number; step: number; take: number;
}
export interface Turn extends Place {
  side: string | null; label: string | null; names: string | null; protocol: string; fields: Fields;
}
export interface Comparison {
  supporter: string; attacker: string; winner: string; order: string; reason: string;
  contested: "flipped" | "voided" | null;
}
export interface Segment {
  id: string; text: string; page: number | null; offset: number; heading: string | null; contested: boolean;
}
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
  calls: number; calls_from_cache: number; attempts: number; prompt_tokens: number; completion_tokens: number;
  cached_tokens: number; tokens_from_cache: number; cost: number | null; cost_from_cache: number | null; wall_s: number;
  embedding_s: number; critical_path_calls: number;
}
export interface DeclaredPhase {
  role: string; phase?: string; captions?: { [field: string]: string }; editable?: string[];
}
export interface Score { sign: string; meaning: string; above?: string; at_root?: [string, string]; beside?: string; }
export interface Look {
  facing?: string[]; together?: string[]; side?: string; tasks?: { [side: string]: string };
  stops?: { [why: string]: string }; scores?: { [name: string]: Score };
  signs?: string; weighing?: string[]; comparing?: string[];
}
export interface Order { phases?: string[]; closing?: string[]; }
export interface Declared {
  title: string; method?: string; summary?: string; view?: string; unit?: string; order?: Order; look?: Look;
  roles?: { [role: string]: string }; phases?: DeclaredPhase[];
}
export interface Tree { root: string; nodes: { [id: string]: Node }; segments: { [id: string]: Segment }; }
export interface Contest {
  run: string; changes: string[]; before: number | null; after: number | null; why: string;
  moved?: { node: string; before: Verdict | null; after: Verdict | null }[];
}
export interface RunRecord {
  run_id: string; thread?: string | null; protocol: string; method: string; status: string; demonstration: boolean;
  input: Fields; settings: Fields; models: { [role: string]: string }; declared: { [protocol: string]: Declared };
  contest: Contest | null; verdict: Verdict | null; tree: Tree; usage: Usage; notices: string[]; started: string;
  ended: string | null;
}
export interface Event { n: number; t: string; run_id: string; node: string; kind: string; data: Fields; }
export interface Call extends Place {
  repair: number; prompt: string; model: string; attempts: number; started: string; ended: string;
  prompt_tokens: number; completion_tokens: number; cost: number | null; reply: string | null; error: string | null;
  source: string;
  sent?: { messages?: [string, string][]; decoding?: { [name: string]: number }; served?: string };
}
/** What a list shows of a run. */
export interface Head {
  run_id: string; protocol: string; method: string; status: string; question: string; verdict: Verdict | null;
  contests: string | null; evaluated: { evaluation: string; row: string; item: string } | null; waits: boolean;
  started: string; calls: number; cost: number | null;
}
