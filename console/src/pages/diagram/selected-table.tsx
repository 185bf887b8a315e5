import { hrefOf } from '../../browser/place.ts';
import type { Diagram } from '../../model/diagram.ts';
import { Button } from '../../parts/button.tsx';

interface SelectedTableProps {
  readonly source: string;
  readonly diagram: Diagram;
  /** Index of the box. */
  readonly selected: number;
  onSelect(index: number): void;
  onClose(): void;
}

/** Columns and connections of the selected table, as text. */
export function SelectedTable({ source, diagram, selected, onSelect, onClose }: SelectedTableProps) {
  const box = diagram.boxes[selected];
  if (box === undefined) return null;
  const lines = diagram.lines.filter(({ from, to }) => from === selected || to === selected);
  return (
    <section class="card diagram-panel" aria-label="Selected table">
      <header>
        <h2 class="grow">{box.id}</h2>
        <Button kind="quiet" small icon="cross" name="Close table" onClick={onClose} />
      </header>
      <p>
        <a href={hrefOf(['data', source, box.id], { tab: 'structure' })}>Open table</a>
      </p>
      <h3>Columns</h3>
      <ul class="stack-tight small">
        {box.table.columns.map(({ name, type, isInPrimaryKey, isNullable }) => (
          <li key={name}>
            {isInPrimaryKey ? <strong>{name}</strong> : name} <span class="mono muted">{type}</span>
            {isInPrimaryKey && <span class="muted"> primary key</span>}
            {isNullable && <span class="muted"> nullable</span>}
          </li>
        ))}
      </ul>
      <h3>Connections</h3>
      {lines.length === 0 ? (
        <p class="muted small">None</p>
      ) : (
        <ul class="stack-tight small">
          {lines.map(({ from, to, names, isFromMany, isToMany }, index) => {
            const other = from === selected ? to : from;
            const isMany = from === selected ? isToMany : isFromMany;
            return (
              <li key={index}>
                <Button kind="link" onClick={() => onSelect(other)}>
                  {diagram.boxes[other]?.id}
                </Button>{' '}
                <span class="muted">
                  {isMany ? 'many rows' : 'one row'}, {names.join(', ')}
                </span>
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
}
