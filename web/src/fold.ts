// What the page shows of a run is a fold of its event log, and nothing else: the
// same events give the same picture, whether they come one by one or at once,
// live or after a reload. Kinds that are not known here change nothing, and a
// field that is missing or null does no harm.

import type { Citation, Event } from './events';

export interface Ask {
  id: string;
  questions: string[];
  options: string[];
  reason: string;
  answer?: string;
  skipped?: boolean;
}

export interface PlanStep extends Timed {
  title: string;
  state: string;
  queries: string[];
}

export interface Plan {
  title: string;
  question: string;
  steps: PlanStep[];
}

/** Timed is work of which is known when it was taken up and how long it took, in
 * milliseconds of the run's working time. */
export interface Timed {
  began?: number;
  took?: number;
}

export interface Todo extends Timed {
  id: string;
  title: string;
  state: string;
}

/** Agent is somebody who works: a researcher of a team, its supervisor, an agent by itself. */
export interface Agent extends Timed {
  name: string;
  role: string;
  task: string;
  state: 'idle' | 'working' | 'done';
  now: string;
  tool: string;
  todos: Todo[];
  notes: string[];
  steps: number;
}

export interface Decision {
  decision: string;
  reason: string;
  tasks: string[];
}

export interface Search {
  query: string;
  engine: string;
  agent: string;
  found: number;
  fresh: number;
  error: string;
  over: boolean;
}

export interface Source {
  number: number;
  url: string;
  title: string;
  snippet: string;
  hash: string;
  words: number;
  state: 'found' | 'read' | 'failed';
  reason: string;
}

export interface Section {
  index: number;
  title: string;
  text: string;
  whole: boolean;
}

export interface Message {
  role: string;
  text: string;
  answer: string;
  reasoning: string;
  points: string[];
  model: string;
  extractive: boolean;
  citations: Citation[];
  /** What people changed since, and what the run itself had said. */
  edits?: number;
  unchecked?: number;
  original?: { answer: string; citations: Citation[] };
}

export interface Spending {
  role: string;
  model: string;
  calls: number;
  input: number;
  output: number;
  cost: number;
}

export interface State {
  /** seq of the last durable event: a stream goes on behind it. */
  seq: number;
  status: string;
  reason: string;
  /** When the run was first heard of and when it last changed, in ms. */
  began: number;
  changed: number;
  /** Milliseconds that it was worked on, without the stretch since `since`. */
  active: number;
  since: number;
  question: string;
  messages: Message[];
  plan: Plan | null;
  /** Titles of the sections to be written. */
  outline: string[];
  asks: Ask[];
  agents: Agent[];
  decisions: Decision[];
  coverage: Record<string, { covered: number; total: number }>;
  /** What has to be known, and whether it is. */
  rubric: { title: string; state: string }[];
  reflected: { text: string; score: number; sufficient: boolean; gaps: string[] } | null;
  searches: Search[];
  sources: Source[];
  /** What was noted, and what the user told the team. */
  notes: { text: string; sources: number[]; user: boolean }[];
  sections: Section[];
  draft: string;
  /** How many bytes of the answer have been told: a piece that begins elsewhere follows some that were missed. */
  told: number;
  spending: Spending[];
  warnings: { what: string; limit: number; spent: number; hit: boolean }[];
  failures: { code: string; message: string; then: string }[];
  verdicts: Record<string, number>;
  followups: string[];
  /** What is going on at this moment, of transient events alone. */
  progress: { what: string; done: number; total: number; note: string } | null;
  waiting: { code: string; message: string; wait: number } | null;
  /** The durable events themselves. */
  log: Event[];
}

export const empty: State = Object.freeze({
  seq: 0, status: '', reason: '', began: 0, changed: 0, active: 0, since: 0, question: '', messages: [], plan: null, outline: [], asks: [], agents: [],
  decisions: [], coverage: {}, rubric: [], reflected: null, searches: [], sources: [], notes: [], sections: [], draft: '', told: 0, spending: [], warnings: [],
  failures: [], verdicts: {}, followups: [], progress: null, waiting: null, log: [],
});

/** fold returns what events make of a state, which stays as it is. */
export function fold(state: State, events: readonly Event[]): State {
  let next = new Draft(state);
  for (const e of events) {
    if (!e || typeof e.kind !== 'string') continue;
    const seq = number(e.seq);
    if (seq) {
      if (seq <= next.s.seq) continue; // a stream that went on tells it again
      next.s.seq = seq;
      next.list('log').push(e);
    }
    if (e.kind === 'run.reopened') {
      next = reopened(next, e);
      continue;
    }
    apply(next, e);
  }
  return next.s;
}

/** live is the part of a state that durable events alone don't make. */
export const settled = (s: State): State => ({ ...s, progress: null, waiting: null, draft: '', told: 0, sections: s.sections.filter((x) => x.whole) });

// Draft is a state that is being made: what it shares with the one before is
// copied before it is changed, once.
class Draft {
  s: State;
  private owned = new Set<keyof State>();

  constructor(from: State) {
    this.s = { ...from };
  }

  list<K extends 'messages' | 'asks' | 'agents' | 'decisions' | 'searches' | 'sources' | 'notes' | 'sections' | 'spending' | 'warnings' | 'failures' | 'log'>(key: K): State[K] {
    if (!this.owned.has(key)) {
      this.owned.add(key);
      (this.s as any)[key] = [...this.s[key]];
    }
    return this.s[key];
  }

  /** put replaces the first that fits, or adds one. */
  put<T>(key: Parameters<Draft['list']>[0], fits: (x: T) => boolean, make: (was: T | undefined) => T) {
    const list = this.list(key) as unknown as T[];
    const at = list.findIndex(fits);
    if (at < 0) list.push(make(undefined));
    else list[at] = make(list[at]);
  }
}

// reopened builds the state again without the events that are void.
function reopened(d: Draft, e: Event): Draft {
  const ranges = array(e.data?.void).map((r) => array(r).map(number));
  if (!ranges.length) return d;
  const isVoid = (seq: number) => ranges.some(([a, b]) => seq >= a && seq <= (b || a));
  const log = d.s.log;
  const again = new Draft(empty);
  for (const kept of log) {
    if (kept.kind !== 'run.reopened' && !isVoid(number(kept.seq))) apply(again, kept);
  }
  again.s.log = log;
  again.s.seq = d.s.seq;
  return again;
}

function apply(d: Draft, e: Event) {
  const s = d.s;
  const data = e.data ?? {};
  const at = e.time ? Date.parse(e.time) || 0 : 0;
  if (at) {
    s.began ||= at;
    if (at > s.changed) s.changed = at;
  }
  const handler = handlers[e.kind];
  if (handler) handler(d, data, e, at);
}

// timed is work as it is now, given how it was.
function timed<T extends Timed>({ s }: Draft, at: number, is: T, was: Timed | undefined, working: boolean, done: boolean): T {
  const now = s.active + (s.since && at > s.since ? at - s.since : 0);
  const began = was?.began ?? (working ? now : undefined);
  return { ...is, began, took: done && began !== undefined ? (was?.took ?? now - began) : undefined };
}

const bytes = new TextEncoder();
const cited = (x: unknown): Citation[] => array(x).filter((c) => c && typeof c.start === 'number');

type Handler = (d: Draft, data: Record<string, any>, e: Event, at: number) => void;

const handlers: Record<string, Handler> = {
  'run.status'({ s }, data, _, at) {
    const was = s.status;
    s.status = text(data.status) || was;
    s.reason = text(data.reason);
    if (s.status === 'running') s.since = at;
    else if (was === 'running' && s.since) {
      s.active += Math.max(0, at - s.since);
      s.since = 0;
    }
    if (s.status !== 'running') s.progress = s.waiting = null;
  },
  'message'(d, data) {
    const m: Message = {
      role: text(data.role), text: text(data.text), answer: text(data.answer), reasoning: text(data.reasoning), points: texts(data.key_points),
      model: text(data.model), extractive: !!data.extractive, citations: cited(data.citations),
    };
    if (m.role === 'user') d.s.question ||= m.text;
    else d.s.draft = '', d.s.told = 0;
    d.list('messages').push(m);
  },
  'report.edited'(d, data) {
    const list = d.list('messages');
    const at = list.findLastIndex((m) => m.role === 'assistant');
    if (at < 0) return;
    const m = list[at];
    list[at] = {
      ...m, answer: text(data.answer), citations: cited(data.citations), edits: number(data.edits), unchecked: number(data.unchecked),
      original: m.original ?? { answer: m.answer, citations: m.citations },
    };
  },
  'answer.delta'({ s }, data, e) {
    if (e.agent) return; // a part of a larger work: its report follows
    s.waiting = null;
    if (data.reset) s.draft = '', s.told = 0;
    const at = number(data.at);
    if (at > s.told) s.draft += ' … ';
    s.draft += text(data.text);
    s.told = at + bytes.encode(text(data.text)).length;
  },
  'report.reset'(d) {
    d.s.draft = '';
    d.s.told = 0;
    d.s.sections = [];
  },
  'report.delta'(d, data) {
    d.s.waiting = null;
    const index = number(data.section);
    d.put<Section>('sections', (x) => x.index === index, (was) => (was?.whole ? was : { index, title: was?.title ?? '', text: (was?.text ?? '') + text(data.text), whole: false }));
  },
  'report.section'(d, data) {
    const index = number(data.index);
    d.put<Section>('sections', (x) => x.index === index, () => ({ index, title: text(data.title), text: text(data.text), whole: true }));
    d.s.sections.sort((a, b) => a.index - b.index);
    const { plan } = d.s;
    if (plan) d.s.plan = { ...plan, steps: plan.steps.map((x) => (x.title === data.title ? { ...x, state: 'done' } : x)) };
  },
  'clarify.asked'(d, data) {
    const id = text(data.id);
    d.put<Ask>('asks', (x) => x.id === id, () => ({ id, questions: texts(data.questions), options: texts(data.options), reason: text(data.reason) }));
  },
  'clarify.answered'(d, data) {
    const id = text(data.id);
    if (d.s.asks.some((x) => x.id === id)) {
      d.put<Ask>('asks', (x) => x.id === id, (was) => ({ ...was!, answer: text(data.answer), skipped: !!data.skipped }));
    }
  },
  'plan.updated'(d, data, e, at) {
    const { s } = d;
    const steps = array(data.steps).filter(Boolean).map((x) => {
      const step: PlanStep = { title: text(x.title), state: text(x.state), queries: texts(x.queries) };
      return timed(d, at, step, s.plan?.steps.find((y) => y.title === step.title), step.state === 'active', step.state === 'done');
    });
    s.outline = steps.map((x) => x.title);
    if (s.plan && who(e) === 'write') return; // what is to be written is not what is to be found out
    s.plan = { title: text(data.title), question: text(data.question) || s.plan?.question || '', steps };
  },
  'agent.started'(d, data, e, at) {
    const name = text(data.name) || who(e);
    agent(d, name, (a) => timed(d, at, { ...a, role: e.agent ? a.role || text(data.role) : text(data.role) || a.role, task: text(data.task) || a.task, state: data.task ? 'working' : a.state }, a, true, false));
  },
  'agent.finished'(d, data, e, at) {
    agent(d, text(data.name) || who(e), (a) => timed(d, at, { ...a, state: 'done', now: text(data.summary) || a.now, tool: '' }, a, false, true));
  },
  'agent.action'(d, data, e) {
    if (!e.agent || data.result !== undefined) {
      agent(d, who(e), (a) => ({ ...a, tool: '' }));
      return;
    }
    agent(d, who(e), (a) => ({ ...a, state: 'working', tool: text(data.tool), now: subject(data.arguments), steps: a.steps + 1 }));
  },
  'agent.reasoning'(d, data, e) {
    agent(d, who(e), (a) => ({ ...a, state: 'working', now: text(data.text) || a.now }));
  },
  'agent.reflected'(d, data, e) {
    d.s.reflected = { text: text(data.text), score: number(data.score), sufficient: !!data.sufficient, gaps: texts(data.gaps) };
    if (who(e)) agent(d, who(e), (a) => ({ ...a, now: text(data.text) || a.now }), true);
  },
  'todo.updated'(d, data, e, at) {
    agent(d, text(data.agent) || who(e), (a) => {
      const id = text(data.id), state = text(data.state);
      const todo = timed<Todo>(d, at, { id, title: text(data.title), state }, a.todos.find((x) => x.id === id), state === 'active', state === 'done');
      const todos = a.todos.some((x) => x.id === todo.id) ? a.todos.map((x) => (x.id === todo.id ? todo : x)) : [...a.todos, todo];
      const working = todos.some((x) => x.state === 'active');
      return { ...a, todos, state: working ? 'working' : todos.every((x) => x.state === 'done' || x.state === 'dropped') ? 'done' : 'idle', task: working && todo.state === 'active' ? todo.title : a.task };
    });
  },
  'note.added'(d, data, e) {
    const note = { text: text(data.text), sources: array(data.sources).map(number), user: data.id === 'user' };
    d.list('notes').push(note);
    agent(d, text(data.agent) || who(e), (a) => ({ ...a, notes: [...a.notes, note.text] }), true);
  },
  'supervisor.decision'(d, data) {
    d.list('decisions').push({ decision: text(data.decision), reason: text(data.reason), tasks: texts(data.tasks) });
  },
  'coverage'({ s }, data) {
    s.coverage = { ...s.coverage, [text(data.of)]: { covered: number(data.covered), total: number(data.total) } };
    if (data.items) s.rubric = array(data.items).map((x) => ({ title: text(x?.question), state: x?.state === 'covered' ? 'done' : x?.state === 'missing' ? 'missing' : 'pending' }));
  },
  'search.started'(d, data, e) {
    d.list('searches').push({ query: text(data.query), engine: text(data.engine), agent: who(e), found: 0, fresh: 0, error: '', over: false });
  },
  'search.results'(d, data, e) {
    const query = text(data.query);
    d.put<Search>('searches', (x) => !x.over && x.query === query && x.agent === who(e), (was) => ({
      query, engine: text(data.engine) || was?.engine || '', agent: who(e), found: number(data.found), fresh: number(data.new), error: text(data.error), over: true,
    }));
  },
  'source.found'(d, data) {
    source(d, data, (was) => ({ ...was, state: was.state === 'failed' ? 'found' : was.state }));
  },
  'source.read'(d, data) {
    source(d, data, (was) => ({ ...was, state: 'read', words: number(data.words) || was.words }));
  },
  'source.failed'(d, data) {
    source(d, data, (was) => (was.state === 'read' ? was : { ...was, state: 'failed', reason: text(data.reason) }));
  },
  'citation.verified'({ s }, data) {
    const verdict = text(data.verdict) || 'unsupported';
    s.verdicts = { ...s.verdicts, [verdict]: (s.verdicts[verdict] ?? 0) + 1 };
  },
  'usage'(d, data) {
    const role = text(data.role), model = text(data.model);
    d.put<Spending>('spending', (x) => x.role === role && x.model === model, (was) => ({
      role, model, calls: (was?.calls ?? 0) + 1, input: (was?.input ?? 0) + number(data.input), output: (was?.output ?? 0) + number(data.output), cost: (was?.cost ?? 0) + number(data.cost),
    }));
    d.s.waiting = null;
  },
  'budget.warning'(d, data) {
    const what = text(data.what);
    d.put<State['warnings'][number]>('warnings', (x) => x.what === what, () => ({ what, limit: number(data.limit), spent: number(data.spent), hit: !!data.hit }));
  },
  'model.failed'(d, data) {
    d.list('failures').push({ code: text(data.code), message: text(data.message), then: text(data.then) });
    d.s.waiting = null;
  },
  'model.waiting'({ s }, data) {
    s.waiting = { code: text(data.code), message: text(data.message), wait: number(data.wait) };
  },
  'progress'({ s }, data) {
    s.progress = { what: text(data.what), done: number(data.done), total: number(data.total), note: text(data.note) };
  },
  'followups'({ s }, data) {
    s.followups = texts(data.questions);
  },
};

// who speaks: the first part of the path of an event's branch that names somebody.
function who(e: Event): string {
  const first = text(e.agent).split('/')[0];
  return first.startsWith('supervisor') ? 'supervisor' : first;
}

// agent changes somebody who works; only one who is known where that is asked for.
function agent(d: Draft, name: string, change: (a: Agent) => Agent, known = false) {
  if (!name || (known && !d.s.agents.some((x) => x.name === name))) return;
  d.put<Agent>('agents', (x) => x.name === name, (was) => change(was ?? { name, role: '', task: '', state: 'idle', now: '', tool: '', todos: [], notes: [], steps: 0 }));
}

function source(d: Draft, data: Record<string, any>, change: (s: Source) => Source) {
  const url = text(data.url), n = number(data.number), hash = text(data.hash);
  if (!url && !n) return;
  d.put<Source>('sources', (x) => (n && x.number ? x.number === n : x.url === url && (!x.hash || !hash || x.hash === hash)), (was) =>
    change({
      number: n || was?.number || 0, url: url || was?.url || '', title: text(data.title) || was?.title || '', snippet: text(data.snippet) || was?.snippet || '',
      hash: hash || was?.hash || '', words: was?.words ?? 0, state: was?.state ?? (hash ? 'read' : 'found'), reason: was?.reason ?? '',
    }));
}

// subject is what a call of a tool is about, in a line.
function subject(args: any): string {
  if (!args || typeof args !== 'object') return '';
  for (const key of ['query', 'question', 'url', 'urls', 'note', 'text', 'title', 'reason']) {
    const v = args[key];
    if (typeof v === 'string' && v) return v;
    if (Array.isArray(v) && v.length) return v.map(text).join(' ');
  }
  return '';
}

const text = (x: any): string => (typeof x === 'string' ? x : '');
const number = (x: any): number => (typeof x === 'number' && Number.isFinite(x) ? x : 0);
const array = (x: any): any[] => (Array.isArray(x) ? x : []);
const texts = (x: any): string[] => array(x).filter((y) => typeof y === 'string');

/** totals of what a run has spent. */
export function totals(s: State) {
  return s.spending.reduce((sum, x) => ({ calls: sum.calls + x.calls, input: sum.input + x.input, output: sum.output + x.output, cost: sum.cost + x.cost }), { calls: 0, input: 0, output: 0, cost: 0 });
}

/** open is the question that waits for an answer now. */
export const open = (s: State): Ask | undefined => (s.status === 'waiting' || s.status === 'running' ? s.asks.find((a) => a.answer === undefined && !a.skipped) : undefined);
