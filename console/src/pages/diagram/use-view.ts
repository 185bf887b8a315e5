import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Area } from '../../model/diagram.ts';

/** Part of the diagram that the frame shows. */
export interface View {
  /** Upper left corner, in units of the diagram. */
  readonly x: number;
  readonly y: number;
  /** Pixels per unit. */
  readonly scale: number;
}

const [MIN_SCALE, MAX_SCALE] = [0.01, 2];
const MARGIN = 24;
/** Scale at which a found table is shown. */
const READABLE = 0.9;
const STEP = 1.25;
/** Pixels per arrow key. */
const PAN = 80;

type Frame = { readonly current: SVGSVGElement | null };

/** Size of the frame in pixels. @param setView moves the view when the frame is resized */
function useFrameSize(frame: Frame, setView: (change: (before: View) => View) => void) {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const { current } = frame;
    if (current === null) return;
    let known = { width: 0, height: 0 };
    const measure = (): void => {
      const next = { width: current.clientWidth, height: current.clientHeight };
      const [x, y] = [next.width - known.width, next.height - known.height];
      // The middle of the frame stays where it is.
      if (known.width > 0) setView((before) => ({ ...before, x: before.x - x / 2 / before.scale, y: before.y - y / 2 / before.scale }));
      known = next;
      setSize(next);
    };
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    measure();
    return () => observer.disconnect();
  }, []);
  return size;
}

/** Pan and zoom of a diagram by pointer, wheel and keyboard. */
export function useView(diagram: Area) {
  const frame = useRef<SVGSVGElement>(null);
  const [view, setView] = useState<View>({ x: 0, y: 0, scale: 1 });
  const drag = useRef<{ readonly pointer: number; readonly x: number; readonly y: number; readonly view: View } | null>(null);
  const size = useFrameSize(frame, setView);

  const fit = (): void => {
    if (size.width === 0) return;
    const [width, height] = [diagram.width + 2 * MARGIN, diagram.height + 2 * MARGIN];
    const scale = clamp(Math.min(1, size.width / width, size.height / height));
    setView({ x: (diagram.width - size.width / scale) / 2, y: (diagram.height - size.height / scale) / 2, scale });
  };
  useEffect(fit, [diagram, size.width > 0]);

  /** @param at fixed point, in pixels; the centre by default */
  const zoom = (factor: number, at = { x: size.width / 2, y: size.height / 2 }): void =>
    setView((before) => {
      const scale = clamp(before.scale * factor);
      return { x: before.x + at.x / before.scale - at.x / scale, y: before.y + at.y / before.scale - at.y / scale, scale };
    });
  const pan = (x: number, y: number): void =>
    setView((before) => ({ ...before, x: before.x + x / before.scale, y: before.y + y / before.scale }));
  useWheel(frame, zoom);
  return {
    frame,
    view,
    /** True once the frame has a size. */
    isReady: size.width > 0,
    /** Visible part of the diagram. */
    visible: { x: view.x, y: view.y, width: size.width / view.scale, height: size.height / view.scale },
    fit,
    zoomIn: (): void => zoom(STEP),
    zoomOut: (): void => zoom(1 / STEP),
    centreOn({ x, y, width, height }: Area): void {
      const scale = Math.max(view.scale, READABLE);
      setView({ x: x + width / 2 - size.width / scale / 2, y: y + height / 2 - size.height / scale / 2, scale });
    },
    onKeyDown(event: KeyboardEvent): void {
      const moves: Readonly<Record<string, () => void>> = {
        ArrowLeft: () => pan(-PAN, 0),
        ArrowRight: () => pan(PAN, 0),
        ArrowUp: () => pan(0, -PAN),
        ArrowDown: () => pan(0, PAN),
        '+': () => zoom(STEP),
        '=': () => zoom(STEP),
        '-': () => zoom(1 / STEP),
        '0': fit,
      };
      const move = event.ctrlKey || event.metaKey || event.altKey ? undefined : moves[event.key];
      if (move === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      move();
    },
    onPointerDown(event: PointerEvent): void {
      if (event.button === 0) drag.current = { pointer: event.pointerId, x: event.clientX, y: event.clientY, view };
    },
    onPointerMove(event: PointerEvent): void {
      const { current } = drag;
      if (current === null || current.pointer !== event.pointerId) return;
      const [x, y] = [event.clientX - current.x, event.clientY - current.y];
      // A click that moves a little selects a table.
      if (Math.hypot(x, y) < 4) return;
      frame.current?.setPointerCapture(event.pointerId);
      setView({ ...current.view, x: current.view.x - x / current.view.scale, y: current.view.y - y / current.view.scale });
    },
    onPointerUp(): void {
      drag.current = null;
    },
  };
}

function clamp(scale: number): number {
  return Math.min(MAX_SCALE, Math.max(MIN_SCALE, scale));
}

/** Zooms by the wheel. The browser must not scroll the page, so the listener is not passive. */
function useWheel(frame: Frame, zoom: (factor: number, at: { x: number; y: number }) => void): void {
  const latest = useRef(zoom);
  latest.current = zoom;
  useEffect(() => {
    const { current } = frame;
    if (current === null) return;
    const onWheel = (event: WheelEvent): void => {
      event.preventDefault();
      const { left, top } = current.getBoundingClientRect();
      latest.current(Math.exp(-event.deltaY / 400), { x: event.clientX - left, y: event.clientY - top });
    };
    current.addEventListener('wheel', onWheel, { passive: false });
    return () => current.removeEventListener('wheel', onWheel);
  }, []);
}
