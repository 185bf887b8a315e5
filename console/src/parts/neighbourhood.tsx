export interface Neighbour {
  /** Name of the relationship. */
  readonly name: string;
  readonly label: string;
  /** Undefined for targets without a page. */
  readonly href: string | undefined;
  readonly isMany: boolean;
}

interface NeighbourhoodProps {
  readonly label: string;
  readonly neighbours: readonly Neighbour[];
}

const MAX_SHOWN = 100;
const MAX_CHARACTERS = 26;
const [WIDTH, BOX, HEIGHT, GAP] = [720, 200, 30, 10];

/** Diagram of a table with its object relationships on the left and its array relationships on the right. */
export function Neighbourhood({ label, neighbours }: NeighbourhoodProps) {
  const shown = neighbours.slice(0, MAX_SHOWN);
  const left = shown.filter(({ isMany }) => !isMany);
  const right = shown.filter(({ isMany }) => isMany);
  const height = Math.max(left.length, right.length, 1) * (HEIGHT + GAP) + GAP;
  const middle = height / 2;
  const yOf = (index: number, count: number): number => middle + (index - (count - 1) / 2) * (HEIGHT + GAP);
  return (
    <div class="neighbourhood">
      <svg viewBox={`0 0 ${WIDTH} ${height}`} width={WIDTH} height={height} role="group" aria-label={`Relationships of ${label}`}>
        {left.map((each, index) => (
          <Edge key={each.name} {...each} from={[(WIDTH - BOX) / 2, middle]} to={[BOX, yOf(index, left.length)]} boxAt={0} />
        ))}
        {right.map((each, index) => (
          <Edge
            key={each.name}
            {...each}
            from={[(WIDTH + BOX) / 2, middle]}
            to={[WIDTH - BOX, yOf(index, right.length)]}
            boxAt={WIDTH - BOX}
          />
        ))}
        <Box x={(WIDTH - BOX) / 2} y={middle} label={label} isCentre />
      </svg>
      {neighbours.length > MAX_SHOWN && <p class="muted small">And {neighbours.length - MAX_SHOWN} more in the list.</p>}
    </div>
  );
}

type Point = readonly [x: number, y: number];

function Edge({
  name,
  label,
  href,
  isMany,
  from,
  to,
  boxAt,
}: Neighbour & { readonly from: Point; readonly to: Point; readonly boxAt: number }) {
  const bend = (from[0] + to[0]) / 2;
  const path = `M${from[0]} ${from[1]}C${bend} ${from[1]} ${bend} ${to[1]} ${to[0]} ${to[1]}`;
  const box = <Box x={boxAt} y={to[1]} label={`${name}: ${label}`} />;
  return (
    <>
      <path d={path} />
      {/* Crow's foot: many rows. */}
      {isMany && <path d={`M${to[0] - 9} ${to[1]}l9 -6m-9 6l9 6`} />}
      {href === undefined ? box : <a href={href}>{box}</a>}
    </>
  );
}

function Box({
  x,
  y,
  label,
  isCentre = false,
}: {
  readonly x: number;
  readonly y: number;
  readonly label: string;
  readonly isCentre?: boolean;
}) {
  const text = label.length > MAX_CHARACTERS ? `${label.slice(0, MAX_CHARACTERS - 1)}…` : label;
  return (
    <g class={isCentre ? 'is-centre' : undefined}>
      <title>{label}</title>
      <rect x={x + 1} y={y - HEIGHT / 2} width={BOX - 2} height={HEIGHT} rx="6" />
      <text x={x + BOX / 2} y={y + 4.5}>
        {text}
      </text>
    </g>
  );
}
