// The API of the server, as /openapi.json describes it.

import type { Status } from './events';
import { current } from './i18n';
import type { Plot } from './plot';

export interface Problem {
  code: string;
  message: string;
  hint?: string;
}

/** Refused is what the server says when it does not do something. */
export class Refused extends Error {
  constructor(readonly problem: Problem, readonly status: number) {
    super(problem.message);
  }
}

export interface RunRecord {
  id: string;
  session: string;
  mode: string;
  title: string;
  status: Status;
  created: string;
  updated?: string;
  active: number;
  tags?: string[] | null;
  request?: { question?: string; in?: Target; limits?: Limits; model?: string; history?: Said[] | null; agent?: string; agent_id?: string; instance?: string };
  failure?: { code: string; message: string; hint?: string };
  spent?: { calls?: number; input_tokens?: number; output_tokens?: number; cost?: number; searches?: number; pages?: number };
}

export interface Target {
  collection?: string;
  also?: { collection?: string }[];
  web?: { engines?: string[] };
}

export interface Limits {
  tokens?: number;
  cost?: number;
  time?: number;
  searches?: number;
  pages?: number;
}

export interface Said {
  role: string;
  content: string;
}

export interface Session {
  id: string;
  title: string;
  runs: number;
  created: string;
  updated: string;
  list?: RunRecord[] | null;
}

export interface Ask {
  mode: string;
  question: string;
  session?: string;
  /** history is what was said before, where that is not what the session says. */
  history?: Said[];
  model?: string;
  agent?: string;
  agent_id?: string;
  instance?: string;
  lang?: string;
  plan?: string;
  in?: Target;
  limits?: Limits;
}

export interface Abilities {
  modes: string[];
  models: { role: string; model: string }[];
  engines: string[];
  limits: Limits;
}

export interface Collection {
  id: string;
  name: string;
  roots?: string[] | null;
  tags?: string[] | null;
  uploads?: boolean;
  unread?: number;
  documents: number;
  chunks?: number;
  failed?: number;
  outdated?: number;
  auto?: boolean;
  synced?: string;
  failures?: { path: string; reason: string; why: string }[] | null;
}

export interface Found {
  hits: { path?: string; title?: string; text?: string; headings?: string[] | null; page?: number; score: number }[];
  note?: string;
}

export interface Passage {
  source: number;
  start: number;
  end: number;
  heading_path?: string[];
  page?: number;
  line?: number;
}

export interface Quote {
  text: string;
  passage: Passage;
  link?: string;
  lang?: string;
}

export interface ReportSource {
  number: number;
  uri: string;
  title?: string;
  author?: string;
  date?: string;
  site?: string;
  lang?: string;
  kind: string;
  snapshot?: string;
  copy_of?: number;
  passages?: Quote[];
}

export interface Statement {
  passage: Passage;
  date?: string;
  quote: string;
  value: string;
}

export interface Report {
  question: string;
  title?: string;
  outcome: string;
  kind?: string;
  extractive?: boolean;
  assisted?: boolean;
  model?: string;
  summary?: string;
  text?: string;
  sections?: { title?: string; text?: string; quotes?: Quote[]; plots?: Plot[] }[];
  conclusion?: string;
  sources?: ReportSource[];
  claims?: { text: string; verified: boolean; verdict: string; sources?: number[] }[];
  coverage?: { claims?: Share; facets?: Share; missing?: string[]; unsure?: string[]; independent?: number };
  conflicts?: { a: Statement; b: Statement }[];
  notes?: string[];
  follow_ups?: string[];
}

export interface Share {
  covered: number;
  total: number;
}

export interface Finding {
  what: string;
  ok: boolean;
  detail?: string;
  hint?: string;
  optional?: boolean;
  unset?: boolean;
}

const key = 'dossier.token';
let token = read(key);

function read(name: string): string {
  try {
    return localStorage.getItem(name) ?? '';
  } catch {
    return '';
  }
}

/** setToken has every request from now on made with a token; '' with none. */
export function setToken(text: string) {
  token = text.trim();
  try {
    if (token) localStorage.setItem(key, token);
    else localStorage.removeItem(key);
  } catch {
    // A browser that keeps nothing asks again next time.
  }
}

export const hasToken = () => token !== '';
/** caller is what each request says of whoever makes it: the language to be told things in, and the token. */
export const caller = () => ({ 'Accept-Language': current(), ...(token && { Authorization: 'Bearer ' + token }) });

/** request asks the server, and fails with Refused where it says no. */
export async function request(method: string, path: string, body?: unknown, more: RequestInit = {}): Promise<Response> {
  const headers = { ...caller(), ...(body !== undefined && { 'Content-Type': 'application/json' }), ...more.headers };
  let reply: Response;
  try {
    reply = await fetch(path, { ...more, method, headers, body: body === undefined ? more.body : JSON.stringify(body) });
  } catch (err) {
    if ((err as Error).name === 'AbortError') throw err;
    throw new Refused({ code: 'unreachable', message: String((err as Error).message) }, 0);
  }
  if (reply.ok) return reply;
  let problem: Problem = { code: 'failed', message: reply.statusText || 'HTTP ' + reply.status };
  try {
    const said = await reply.json();
    if (said && typeof said.message === 'string') problem = said;
  } catch {
    // Whatever stands between has its own way to say it.
  }
  throw new Refused(problem, reply.status);
}

export const get = async <T>(path: string, signal?: AbortSignal): Promise<T> => (await request('GET', path, undefined, { signal })).json();
const run = (id: string) => '/api/runs/' + encodeURIComponent(id);
const collection = (name: string) => '/api/kb/collections/' + encodeURIComponent(name);
const session = (id: string) => '/api/sessions/' + encodeURIComponent(id);
const tell = async (id: string, what: string, body?: unknown) => void (await request('POST', run(id) + '/' + what, body));

export const api = {
  abilities: async (): Promise<Abilities> => {
    const { modes, models, engines, limits } = await get<Partial<Abilities>>('/api/abilities');
    return { modes: modes ?? [], models: models ?? [], engines: engines ?? [], limits: limits ?? {} };
  },
  collections: async () => (await get<{ collections: Collection[] | null; active?: string; max_file?: number }>('/api/kb/collections')),
  collection: (name: string, signal?: AbortSignal) => get<Collection>(collection(name), signal),
  use: async (name: string) => void (await request('POST', '/api/kb/use', { name })),
  drop: async (name: string) => void (await request('DELETE', collection(name))),
  look: async (name: string, text: string): Promise<Found> => (await request('POST', collection(name) + '/search', { Text: text, Limit: 8 })).json(),
  runs: async (query: Record<string, string>, signal?: AbortSignal) => (await get<RunRecord[] | null>('/api/runs?' + new URLSearchParams(query), signal)) ?? [],
  /** sessions are the conversations; what read documents in is none. */
  sessions: async (signal?: AbortSignal) => {
    const [all, read] = await Promise.all([get<Session[] | null>('/api/sessions?limit=100', signal), api.runs({ mode: 'ingest', limit: '100' }, signal)]);
    return (all ?? []).filter((s) => s.runs > 1 || !read.some((r) => r.session === s.id));
  },
  session: (id: string, signal?: AbortSignal) => get<Session>(session(id), signal),
  rename: async (id: string, title: string) => void (await request('PATCH', session(id), { title })),
  forget: async (id: string) => void (await request('DELETE', session(id))),
  record: (id: string) => get<RunRecord>(run(id) + '?view=record'),
  start: async (ask: Ask): Promise<RunRecord> => (await request('POST', '/api/runs', ask)).json(),
  report: (id: string) => get<Report>(run(id) + '/report.json'),
  snapshot: async (id: string, hash: string) => (await request('GET', run(id) + '/snapshots/' + encodeURIComponent(hash))).text(),
  answer: (id: string, ask: string, text: string) => tell(id, 'answer', { ask, text }),
  steer: (id: string, text: string) => tell(id, 'steer', { text }),
  pause: (id: string) => tell(id, 'pause'),
  finish: (id: string) => tell(id, 'finish'),
  cancel: (id: string) => tell(id, 'cancel'),
  resume: (id: string, limits?: Limits) => tell(id, 'resume', limits ? { limits } : {}),
  remove: async (id: string) => void (await request('DELETE', run(id))),
  doctor: (offline: boolean, lang: string) => get<Finding[]>(`/api/doctor?offline=${offline}&lang=${lang}`),
  reportURL: (id: string, format: string) => run(id) + '/report.' + format,
  bundleURL: (id: string) => run(id) + '/bundle.zip',
};

/** download saves what the server gives under a name. */
export async function download(path: string, name: string) {
  const blob = await (await request('GET', path)).blob();
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Me is who the server takes the visitor for. */
export interface Me {
  user?: string;
  scopes: string[] | null;
}

export const me = () => get<Me>('/api/me');
