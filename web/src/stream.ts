// Server-sent events of a run, read with fetch so that a token can go along. A
// stream that is cut goes on behind the last event that came.

import { Refused, request } from './api';
import type { Event } from './events';

/** Connection is how a stream is: being made, live, lost for now, or over. */
export type Connection = 'connecting' | 'live' | 'lost' | 'over';

export interface Listener {
  /** after is the sequence behind which to go on. */
  after: () => number;
  events: (batch: Event[]) => void;
  state: (c: Connection) => void;
  failed: (err: Refused) => void;
}

/** Parser makes messages of the bytes of a stream. */
export class Parser {
  private rest = '';

  feed(chunk: string): { name: string; data: string }[] {
    this.rest += chunk;
    const out: { name: string; data: string }[] = [];
    for (;;) {
      const end = /\r?\n\r?\n/.exec(this.rest);
      if (!end) return out;
      const block = this.rest.slice(0, end.index);
      this.rest = this.rest.slice(end.index + end[0].length);
      let name = '';
      const data: string[] = [];
      for (const line of block.split(/\r?\n/)) {
        if (line.startsWith('event:')) name = line.slice(6).trim();
        else if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
      }
      if (name || data.length) out.push({ name, data: data.join('\n') });
    }
  }
}

/** follow reads the events of a run until it is over, or beyond that, or until it is told to stop. */
export function follow(id: string, listener: Listener, stay = false): () => void {
  const stop = new AbortController();
  void (async () => {
    for (let failures = 0; !stop.signal.aborted; ) {
      listener.state(failures ? 'lost' : 'connecting');
      try {
        const end = await once(id, stay, listener, stop.signal, () => (failures = 0));
        if (end === 'over') return listener.state('over');
        failures += end === 'again' ? 0 : 1;
      } catch (err) {
        if (stop.signal.aborted) return;
        if (err instanceof Refused && err.status >= 400 && err.status < 500 && err.status !== 429) return listener.failed(err);
        failures++;
      }
      if (failures) {
        listener.state('lost');
        await pause(Math.min(500 * 2 ** (failures - 1), 10_000), stop.signal);
      }
    }
  })();
  return () => stop.abort();
}

// once reads one stream to its end, and says what comes then: nothing, the same
// at once, or the same after a while.
async function once(id: string, stay: boolean, listener: Listener, signal: AbortSignal, alive: () => void): Promise<'over' | 'again' | 'later'> {
  const after = listener.after();
  const reply = await request('GET', '/api/runs/' + encodeURIComponent(id) + '/events' + (stay ? '?stay=true' : ''), undefined, {
    signal, headers: { Accept: 'text/event-stream', ...(after ? { 'Last-Event-ID': String(after) } : {}) },
  });
  alive();
  listener.state('live');
  const reader = reply.body!.pipeThrough(new TextDecoderStream() as any).getReader() as ReadableStreamDefaultReader<string>;
  const parser = new Parser();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return 'later';
    const batch: Event[] = [];
    let end: 'over' | 'again' | 'later' | '' = '';
    for (const m of parser.feed(value)) {
      if (m.name === 'end') end = 'over';
      else if (m.name === 'gap') end = 'again';
      else if (m.name === 'stopped') end = 'later';
      else if (m.data) {
        try {
          batch.push(JSON.parse(m.data));
        } catch {
          // A message that is no event is passed over.
        }
      }
    }
    if (batch.length) listener.events(batch);
    if (end) return end;
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}
