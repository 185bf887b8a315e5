import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { lineHeight } from '../browser/density.ts';
import { AFTER_DRAWN_MS } from './after-drawn.ts';

const OVERSCAN = 8;
/** Rows drawn before the height is measured. */
const INITIAL_ROWS = 12;

export interface Window {
  readonly first: number;
  readonly end: number;
}

/** Returns the range of rows of a fixed height that a scrolling element shows. */
export function useWindow(
  count: number,
  rowHeight: number,
  offset = 0,
): { readonly frame: { current: HTMLDivElement | null }; readonly window: Window } {
  const frame = useRef<HTMLDivElement | null>(null);
  const [shown, setShown] = useState<Window>({ first: 0, end: Math.min(count, INITIAL_ROWS) });
  useLayoutEffect(() => {
    const { current } = frame;
    if (current === null) return;
    // Visible rows are drawn first, those around them once these are on screen.
    let overscan = 0;
    const measure = (): void => {
      const first = Math.max(0, Math.floor((current.scrollTop - offset) / rowHeight) - overscan);
      const end = Math.min(count, Math.ceil((current.scrollTop + Math.min(current.clientHeight, innerHeight)) / rowHeight) + overscan);
      setShown((before) => (before.first === first && before.end === end ? before : { first, end }));
    };
    const widen = (): void => {
      overscan = OVERSCAN;
      measure();
    };
    measure();
    const timer = setTimeout(widen, AFTER_DRAWN_MS);
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    current.addEventListener('scroll', measure, { passive: true });
    return () => {
      clearTimeout(timer);
      observer.disconnect();
      current.removeEventListener('scroll', measure);
    };
  }, [count, rowHeight, offset]);
  return { frame, window: { first: Math.min(shown.first, count), end: Math.min(shown.end, count) } };
}

/** Scrolls a frame so that it shows a row, with room for a heading that is as high as a row. */
export function scrollToRow(frame: HTMLElement, row: number, rowHeight: number): void {
  const top = row * rowHeight;
  if (top < frame.scrollTop) frame.scrollTop = top;
  else if (top + rowHeight * 2 > frame.scrollTop + frame.clientHeight) frame.scrollTop = top + rowHeight * 2 - frame.clientHeight;
}

/** A long list of rows of the height `--line`; only visible rows are drawn. */
export function VirtualList({
  count,
  name,
  row,
}: {
  readonly count: number;
  readonly name: string;
  row(index: number): ComponentChildren;
}) {
  const height = lineHeight.value;
  const { frame, window } = useWindow(count, height);
  const { first, end } = window;
  return (
    <div ref={frame} class="virtual-list" role="group" aria-label={name}>
      <div style={{ height: `${first * height}px` }} />
      {Array.from({ length: Math.max(0, end - first) }, (_, index) => row(first + index))}
      <div style={{ height: `${Math.max(0, count - end) * height}px` }} />
    </div>
  );
}
