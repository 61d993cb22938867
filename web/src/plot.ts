// Series of numbers of a report, drawn above the tables that have them.

import type { Report } from './api';

export interface Plot {
  title: string;
  unit?: string;
  dated?: boolean;
  lines?: { name?: string; points?: { label: string; at?: number; value: number; written: string }[] }[];
}

const width = 640, left = 150, row = 22, tall = 220;

function make(parent: Element, name: string, attributes: Record<string, string | number>, text = ''): SVGElement {
  const el = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const key in attributes) el.setAttribute(key, String(attributes[key]));
  el.textContent = text;
  parent.append(el);
  return el as SVGElement;
}

/** draw puts a chart before each table of a plot, whose numbers it shows. */
export function draw(root: HTMLElement, report?: Report) {
  root.querySelectorAll('svg.plot').forEach((x) => x.remove());
  const plots = (report?.sections ?? []).flatMap((s) => s.plots ?? []);
  if (!plots.length) return;
  const tables = [...root.querySelectorAll('table')].map((x) => x.closest('.wide') ?? x).filter((x) => x.previousElementSibling?.firstChild?.nodeName === 'EM');
  if (tables.length !== plots.length) return; // which one is which can't be told
  plots.forEach((p, i) => chart(p, tables[i]));
}

function chart(p: Plot, before: Element) {
  const lines = (p.lines ?? []).map((l) => ({ ...l, points: l.points ?? [] })).filter((l) => l.points.length);
  const all = lines.flatMap((l) => l.points);
  if (all.length < 2) return;
  const high = Math.max(0, ...all.map((x) => x.value)), low = Math.min(0, ...all.map((x) => x.value));
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('class', 'plot');
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', p.title);
  const cut = (s: string, n: number) => (s.length > n ? s.slice(0, n - 1) + '…' : s);
  let y = 6;
  if (lines.length > 1) {
    lines.forEach((l, i) => {
      make(svg, 'rect', { x: left, y, width: 11, height: 11, rx: 2, class: 'c' + (i % 4) });
      make(svg, 'text', { x: left + 17, y: y + 10 }, cut(l.name ?? '', 60));
      y += 18;
    });
    y += 6;
  }
  if (p.dated) {
    const from = Math.min(...all.map((x) => x.at ?? 0)), to = Math.max(...all.map((x) => x.at ?? 0));
    const x = (at = 0) => 50 + ((width - 110) * (at - from)) / (to - from || 1);
    const h = (v: number) => y + 14 + (tall * (high - v)) / (high - low || 1);
    make(svg, 'path', { d: `M40 ${h(0)}H${width - 40}`, class: 'axis' });
    lines.forEach((l, i) => {
      const points = [...l.points].sort((a, b) => (a.at ?? 0) - (b.at ?? 0));
      make(svg, 'path', { d: 'M' + points.map((q) => `${x(q.at).toFixed(1)} ${h(q.value).toFixed(1)}`).join('L'), class: 'line c' + (i % 4) });
      points.forEach((q, k) => {
        make(make(svg, 'circle', { cx: x(q.at), cy: h(q.value), r: 3.5, class: 'c' + (i % 4) }), 'title', {}, `${q.label}: ${q.written}`);
        if (points.length < 12 || k % Math.ceil(points.length / 8) === 0) {
          if (!i) make(svg, 'text', { x: x(q.at), y: y + tall + 34, class: 'mid' }, cut(q.label, 10));
          if (lines.length === 1) make(svg, 'text', { x: x(q.at), y: h(q.value) - 9, class: 'mid' }, cut(q.written, 12));
        }
      });
    });
    y += tall + 44;
  } else {
    const labels = [...new Set(all.map((x) => x.label))].slice(0, 30);
    const scale = (v: number) => ((width - left - 90) * v) / (high - low || 1);
    const zero = left + scale(-low);
    for (const label of labels) {
      make(svg, 'text', { x: left - 8, y: y + 13 + ((lines.length - 1) * row) / 2, class: 'end' }, cut(label, 20));
      lines.forEach((l, i) => {
        const q = l.points.find((x) => x.label === label);
        if (q) {
          const w = Math.abs(scale(q.value));
          make(svg, 'rect', { x: q.value < 0 ? zero - w : zero, y, width: Math.max(1, w), height: row - 6, rx: 2, class: 'c' + (i % 4) });
          make(svg, 'text', { x: (q.value < 0 ? zero : zero + w) + 6, y: y + 13 }, cut(q.written, 14));
        }
        y += row;
      });
      y += lines.length > 1 ? 6 : 2;
    }
  }
  svg.setAttribute('viewBox', `0 0 ${width} ${Math.ceil(y)}`);
  before.before(svg);
}
