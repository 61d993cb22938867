// The event log as docs/events.md describes it. Every field may be missing: logs
// of earlier programs lack some, and those of later ones have more.

export type Status = 'queued' | 'running' | 'waiting' | 'paused' | 'done' | 'failed' | 'cancelled';

export interface Event {
  v?: number;
  run?: string;
  session?: string;
  seq?: number;
  time?: string;
  agent?: string;
  kind: string;
  data?: Record<string, any> | null;
}

export interface Citation {
  number: number;
  url: string;
  title?: string;
  start: number;
  end: number;
  quote?: string;
}

/** ended says whether a run is over: nothing more happens to it by itself. */
export const ended = (s?: string) => s === 'done' || s === 'failed' || s === 'cancelled';
