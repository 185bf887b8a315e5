interface KeyColumnsProps {
  readonly label: string;
  readonly columns: readonly string[];
  /** In the order of the key. */
  readonly chosen: readonly string[];
  onChange(chosen: readonly string[]): void;
}

/** Columns of a key, in the order in which they are selected. */
export function KeyColumns({ label, columns, chosen, onChange }: KeyColumnsProps) {
  return (
    <fieldset class="stack-tight column-choice">
      <legend>{label}</legend>
      {columns.map((column) => {
        const at = chosen.indexOf(column);
        return (
          <label key={column} class="check">
            <input
              type="checkbox"
              checked={at >= 0}
              onChange={() => onChange(at < 0 ? [...chosen, column] : chosen.filter((each) => each !== column))}
            />
            <span>
              {column} {at >= 0 && chosen.length > 1 && <span class="badge">{at + 1}</span>}
            </span>
          </label>
        );
      })}
    </fieldset>
  );
}
