// What the API has about agents, their templates and instances, and tools.

import { get, request, type RunRecord } from '../api';

export interface Agent {
  name: string;
  kind: string;
  description?: string;
  capabilities?: string[] | null;
  tools?: string[] | null;
  trouble?: string;
}

export interface Version {
  version: number;
  state: string;
  note?: string;
  author?: string;
  created: string;
  document?: string;
}

export interface Template {
  name: string;
  published?: number;
  latest: number;
  deprecated?: boolean;
  updated: string;
  versions?: Version[] | null;
}

export interface Stats {
  version: number;
  runs: number;
  done: number;
  tokens: { p50: number };
  time: { p50: number };
}

export interface Instance {
  id: string;
  name: string;
  template: string;
  version?: number;
  slots: number;
  queue: number;
  state: string;
  last_used?: string;
  served: number;
  running?: number;
  queued?: number;
  sessions?: number;
}

export interface Tool {
  name: string;
  origin: string;
  description?: string;
  schema?: Schema;
  effect: string;
  calls?: number;
  failures?: number;
  error?: string;
}

export interface Schema {
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  default?: unknown;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
}

const part = encodeURIComponent;
const template = (name: string) => '/api/templates/' + part(name);
const instance = (id: string) => '/api/instances/' + part(id);
const post = (path: string, body?: unknown) => request('POST', path, body);
const search = (words: string) => (words ? '?k=8&q=' + part(words) : '');

export const fleet = {
  agents: (words: string, signal: AbortSignal) => get<Agent[]>(words ? '/api/directory' + search(words) : '/api/agents', signal),
  templates: (signal?: AbortSignal) => get<Template[]>('/api/templates', signal),
  template: (name: string, signal: AbortSignal) => get<Template>(template(name), signal),
  version: (name: string, n: number, signal: AbortSignal) => get<Version>(`${template(name)}/versions/${n}`, signal),
  diff: async (name: string, a: number, b: number, signal: AbortSignal) => (await get<{ diff: string }>(`${template(name)}/diff?a=${a}&b=${b}`, signal)).diff,
  stats: (name: string, signal: AbortSignal) => get<Stats[]>(template(name) + '/stats', signal),
  save: (name: string, document: string, note: string) => post(template(name), { document, note }),
  mark: (name: string, what: 'publish' | 'deprecate', version: number) => post(`${template(name)}/${what}`, { version }),
  forget: (name: string) => request('DELETE', template(name)),
  instances: (signal: AbortSignal) => get<Instance[]>('/api/instances', signal),
  instance: (id: string, signal: AbortSignal) => get<Instance>(instance(id), signal),
  make: async (i: { template: string; name: string; slots: number; queue: number }): Promise<Instance> => (await post('/api/instances', i)).json(),
  tell: (id: string, what: 'start' | 'drain' | 'stop') => post(`${instance(id)}/${what}`),
  upgrade: (id: string, version: number) => post(instance(id) + '/upgrade', { version }),
  remove: (id: string) => request('DELETE', instance(id)),
  tools: (words: string, signal: AbortSignal) => get<{ tools: Tool[] | null; trouble?: { origin: string; problem: string; hint?: string }[] | null }>('/api/tools' + search(words), signal),
  /** ask starts a run of an agent, an instance or a tool. */
  ask: async (request: { mode: string; question: string; agent?: string; instance?: string }): Promise<RunRecord> => (await post('/api/runs', request)).json(),
};

/** ended waits for the end of a run, and is what it said. */
export async function ended(id: string, signal: AbortSignal): Promise<string> {
  const all = await (await request('GET', `/api/runs/${part(id)}/events`, undefined, { signal, headers: { Accept: 'text/event-stream' } })).text();
  let said = '';
  for (const [, line] of all.matchAll(/^data: ?(.*)$/gm)) {
    const event = JSON.parse(line);
    if (event.kind === 'message' && event.data?.role === 'assistant') said = String(event.data.text ?? '');
  }
  return said;
}
