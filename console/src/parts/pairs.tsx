import type { ComponentChildren } from 'preact';
import { Button } from './button.tsx';

export interface Pair {
  readonly key: string;
  readonly value: string;
}

/** A list of key and value fields. */
export function Pairs({
  name,
  labels,
  pairs,
  add,
  refusal,
  field,
  onChange,
}: {
  /** Accessible name, such as `Headers`. */
  readonly name: string;
  /** Labels of the two fields. */
  readonly labels: readonly [string, string];
  readonly pairs: readonly Pair[];
  /** Label of the button that adds a row. */
  readonly add: string;
  readonly refusal?: string | undefined;
  /** Returns a custom field; undefined for the default text field. */
  field?(label: string, part: 'key' | 'value', pair: Pair, set: (value: string) => void): ComponentChildren;
  onChange(pairs: readonly Pair[]): void;
}) {
  const parts = ['key', 'value'] as const;
  return (
    <div class="stack-tight" role="group" aria-label={name}>
      {pairs.map((pair, index) => (
        <div key={index} class="pair">
          {parts.map((part, at) => {
            const label = `${labels[at]}${pairs.length === 1 ? '' : ` ${index + 1}`}`;
            const set = (value: string): void => onChange(pairs.with(index, { ...pair, [part]: value }));
            return (
              field?.(label, part, pair, set) ?? (
                <input
                  class="input"
                  aria-label={label}
                  placeholder={labels[at]}
                  value={pair[part]}
                  spellcheck={false}
                  readOnly={refusal !== undefined}
                  onInput={(event) => set(event.currentTarget.value)}
                />
              )
            );
          })}
          <Button
            kind="quiet"
            icon="cross"
            name={`Remove ${labels[0].toLowerCase()} ${pair.key === '' ? index + 1 : pair.key}`}
            refusal={refusal}
            onClick={() => onChange(pairs.filter((_, each) => each !== index))}
          />
        </div>
      ))}
      <div class="row">
        <Button small icon="plus" refusal={refusal} onClick={() => onChange([...pairs, { key: '', value: '' }])}>
          {add}
        </Button>
      </div>
    </div>
  );
}
