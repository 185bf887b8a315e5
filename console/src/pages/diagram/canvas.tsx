import { useMemo } from 'preact/hooks';
import { BOX_WIDTH, type Diagram, type DiagramBox, HEAD_HEIGHT, meets, ROW_HEIGHT } from '../../model/diagram.ts';
import { boxName, columnName, cut, typeName } from '../../model/diagram-svg.ts';
import { Button } from '../../parts/button.tsx';
import type { useView } from './use-view.ts';

/** Scales from which boxes have columns, and from which they have names. */
const [WITH_COLUMNS, WITH_NAMES] = [0.45, 0.2];
const MAX_LARGE_NAME = 15;

interface CanvasProps {
  readonly label: string;
  readonly diagram: Diagram;
  readonly state: ReturnType<typeof useView>;
  /** Index of the selected box. */
  readonly selected: number | undefined;
  onSelect(index: number): void;
}

/** The visible part of a diagram. Far away, all boxes are one path, so that thousands of tables stay fast. */
export function Canvas({ label, diagram, state, selected, onSelect }: CanvasProps) {
  const { frame, view, visible, onKeyDown, onPointerDown, onPointerMove, onPointerUp } = state;
  const { scale } = view;
  const boxes = diagram.boxes.flatMap((box, index) => (meets(box, visible) ? [{ box, index }] : []));
  const lines = useLines(diagram, selected);
  const shown =
    scale < WITH_NAMES ? lines.all : diagram.lines.flatMap(({ path, bounds }) => (meets(bounds, visible) ? [path] : [])).join('');
  return (
    // Attributes of SVG are case-sensitive: `tabIndex` has no effect.
    <div class="diagram-frame">
      <svg
        ref={frame}
        class="diagram"
        role="group"
        aria-label={`${label}. Arrow keys move it, plus and minus zoom.`}
        tabindex={0}
        onKeyDown={onKeyDown}
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onPointerUp={onPointerUp}
        onPointerCancel={onPointerUp}
      >
        <g transform={`scale(${scale}) translate(${-view.x} ${-view.y})`}>
          <path class="diagram-lines" d={shown} />
          {lines.ofSelected !== '' && <path class="diagram-lines is-selected" d={lines.ofSelected} />}
          {scale < WITH_NAMES ? (
            <FarBoxes boxes={boxes} selected={selected} />
          ) : (
            boxes.map(({ box, index }) => (
              <Box
                key={index}
                box={box}
                hasColumns={scale >= WITH_COLUMNS}
                isSelected={index === selected}
                onSelect={() => onSelect(index)}
              />
            ))
          )}
        </g>
      </svg>
      <div class="diagram-zoom row-tight">
        <Button small name="Zoom out" onClick={state.zoomOut}>
          −
        </Button>
        <Button small name="Zoom in" onClick={state.zoomIn}>
          +
        </Button>
        <Button small onClick={state.fit}>
          Fit
        </Button>
      </div>
    </div>
  );
}

/** Paths of all lines, and of those of the selected box. */
function useLines({ lines }: Diagram, selected: number | undefined) {
  const all = useMemo(() => lines.map(({ path }) => path).join(''), [lines]);
  const ofSelected = useMemo(
    () =>
      (selected === undefined ? [] : lines.filter(({ from, to }) => from === selected || to === selected)).map(({ path }) => path).join(''),
    [lines, selected],
  );
  return { all, ofSelected };
}

function FarBoxes({
  boxes,
  selected,
}: {
  readonly boxes: readonly { readonly box: DiagramBox; readonly index: number }[];
  readonly selected: number | undefined;
}) {
  const pathOf = ({ x, y, width, height }: DiagramBox): string => `M${x} ${y}h${width}v${height}h${-width}z`;
  const chosen = boxes.find(({ index }) => index === selected);
  return (
    <>
      <path class="diagram-far" d={boxes.map(({ box }) => pathOf(box)).join('')} />
      {chosen !== undefined && <path class="diagram-far is-selected" d={pathOf(chosen.box)} />}
    </>
  );
}

interface BoxProps {
  readonly box: DiagramBox;
  readonly hasColumns: boolean;
  readonly isSelected: boolean;
  onSelect(): void;
}

function Box({ box, hasColumns, isSelected, onSelect }: BoxProps) {
  const { x, y, width, height, rows, hidden, id, table } = box;
  const middle = (index: number): number => HEAD_HEIGHT + index * ROW_HEIGHT + 13;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the search selects tables by keyboard.
    <g class={`diagram-box${isSelected ? ' is-selected' : ''}`} transform={`translate(${x} ${y})`} onClick={onSelect}>
      <title>{id}</title>
      <rect width={width} height={height} rx="6" />
      {hasColumns ? (
        <>
          <path d={`M0 ${HEAD_HEIGHT}H${BOX_WIDTH}`} />
          <text class="is-key" x="10" y="19">
            {boxName(box)}
          </text>
          {rows.map(({ name, type, isInPrimaryKey }, index) => (
            <>
              <text class={isInPrimaryKey ? 'is-key' : undefined} x="10" y={middle(index)}>
                {columnName(name)}
              </text>
              <text class="is-type" x={BOX_WIDTH - 10} y={middle(index)}>
                {typeName(type)}
              </text>
            </>
          ))}
          {hidden > 0 && (
            <text class="is-more" x="10" y={middle(rows.length)}>
              {hidden} more
            </text>
          )}
        </>
      ) : (
        <text class="is-large" x="10" y={Math.min(height - 8, height / 2 + 9)}>
          {cut(table.name, MAX_LARGE_NAME)}
        </text>
      )}
    </g>
  );
}
