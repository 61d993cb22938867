// What can be done with what is in collections.

import { Refused, caller, request, type Collection, type Problem, type RunRecord } from './api';

export interface Entry {
  n: number;
  path: string;
  size: number;
  format?: string;
  title?: string;
  chunks: number;
  failure?: { reason: string; why: string };
  uploaded?: boolean;
}

export interface Piece {
  id: string;
  headings?: string[] | null;
  page?: number;
  text: string;
}

const at = (name: string) => '/api/kb/collections/' + encodeURIComponent(name);
const json = async <T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> => (await request(method, path, body, { signal })).json();

export const kb = {
  create: (name: string, tags: string[]) => json<Collection>('POST', '/api/kb/collections', { name, tags }),
  tag: (name: string, tags: string[]) => json<Collection>('PATCH', at(name), { tags }),
  ingest: (name: string, reread: boolean, lang: string) => json<RunRecord>('POST', at(name) + '/ingest', { reread, lang }),
  documents: (name: string, query: Record<string, string>, signal?: AbortSignal) => json<{ documents: Entry[] | null; total: number }>('GET', at(name) + '/documents?' + new URLSearchParams(query), undefined, signal),
  document: (name: string, n: number, skip: number) => json<Entry & { passages: Piece[] | null }>('GET', `${at(name)}/documents/${n}?skip=${skip}`),
  discard: async (name: string, n: number) => void (await request('DELETE', `${at(name)}/documents/${n}`)),
};

/** put sends a file, telling how much of it is on its way. */
export function put(name: string, path: string, file: File, sent: (share: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const x = new XMLHttpRequest();
    x.open('PUT', at(name) + '/files?' + new URLSearchParams({ path }));
    for (const [key, value] of Object.entries(caller())) x.setRequestHeader(key, value);
    x.upload.onprogress = (e) => e.total && sent(e.loaded / e.total);
    x.onload = () => {
      if (x.status < 300) return resolve();
      let problem: Problem = { code: 'failed', message: 'HTTP ' + x.status };
      try {
        problem = { ...problem, ...JSON.parse(x.responseText) };
      } catch {
        // Whatever stands between has its own way to say it.
      }
      reject(new Refused(problem, x.status));
    };
    x.onerror = () => reject(new Refused({ code: 'unreachable', message: '' }, 0));
    x.send(file);
  });
}

export const tagsIn = (text: string) => text.split(/[,，、]/).map((x) => x.trim()).filter(Boolean);
