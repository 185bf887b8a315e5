import type { SidebarState } from '../browser/layout.ts';

/** Least and greatest width of a sidebar, in rem. */
const MIN = 9;
const MAX = 36;
const STEP = 1;
/** Pixels that distinguish a drag from a click. */
const LEAST_DRAG = 3;

/** The edge of a sidebar, which is dragged, or moved by the arrow keys. Enter and a double click fold the sidebar. */
export function Splitter({
  name,
  controls,
  sidebar,
}: {
  readonly name: string;
  readonly controls: string;
  readonly sidebar: SidebarState;
}) {
  const { width, isFolded } = sidebar.state.value;
  const resize = (next: number): void => sidebar.change({ width: Math.min(MAX, Math.max(MIN, next)), isFolded: false });
  const fold = (): void => sidebar.change({ isFolded: !isFolded });
  return (
    <div
      class="splitter"
      role="separator"
      tabIndex={0}
      aria-label={name}
      aria-orientation="vertical"
      aria-controls={controls}
      aria-valuenow={isFolded ? 0 : Math.round(width)}
      aria-valuemin={0}
      aria-valuemax={MAX}
      title="Drag to resize, double-click to fold"
      onDblClick={fold}
      onKeyDown={(event) => {
        if (event.key === 'ArrowLeft') resize(width - STEP);
        else if (event.key === 'ArrowRight') resize(isFolded ? width : width + STEP);
        else if (event.key === 'Home') resize(MIN);
        else if (event.key === 'End') resize(MAX);
        else if (event.key === 'Enter') fold();
        else return;
        event.preventDefault();
      }}
      // The browser would select text, or drag what is selected, and end the pointer's events with that.
      onMouseDown={(event) => {
        event.preventDefault();
        event.currentTarget.focus();
      }}
      onPointerDown={({ clientX, pointerId, currentTarget }) => {
        currentTarget.setPointerCapture(pointerId);
        const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
        const start = isFolded ? 0 : width;
        followPointer((to) => {
          if (Math.abs(to - clientX) >= LEAST_DRAG) resize(start + (to - clientX) / rem);
        });
      }}
    />
  );
}

/** Reports the horizontal position of the pointer until it is released. */
function followPointer(onMove: (x: number) => void): void {
  const end = new AbortController();
  const { signal } = end;
  addEventListener('pointermove', ({ clientX }) => onMove(clientX), { signal });
  for (const type of ['pointerup', 'pointercancel']) addEventListener(type, () => end.abort(), { signal });
}
