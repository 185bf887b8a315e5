import { isReadOnly, readOnlyRefusal } from '../api/settings.ts';
import type { HeaderRow } from '../model/header-rows.ts';
import { Button } from '../parts/button.tsx';

/** Headers for each call: values, or environment variables that hold them. */
export function HeadersForm({
  headers,
  onChange,
}: {
  readonly headers: readonly HeaderRow[];
  onChange(headers: readonly HeaderRow[]): void;
}) {
  const set = (index: number, changes: Partial<HeaderRow>): void => {
    const row = headers[index];
    if (row !== undefined) onChange(headers.with(index, { ...row, ...changes }));
  };
  return (
    <div class="stack-tight" role="group" aria-label="Headers">
      <span class="label">Headers</span>
      {headers.map(({ key, value, isFromEnvironment }, index) => (
        <div key={index} class="pair pair-three">
          <input
            class="input"
            aria-label={`Header ${index + 1}`}
            placeholder="Name"
            value={key}
            spellcheck={false}
            readOnly={isReadOnly}
            onInput={(event) => set(index, { key: event.currentTarget.value })}
          />
          <select
            class="select"
            aria-label={`Type of header ${index + 1}`}
            value={isFromEnvironment ? 'variable' : 'value'}
            disabled={isReadOnly}
            onChange={(event) => set(index, { isFromEnvironment: event.currentTarget.value === 'variable' })}
          >
            <option value="value">Value</option>
            <option value="variable">Environment variable</option>
          </select>
          <input
            class="input"
            aria-label={`${isFromEnvironment ? 'Variable' : 'Value'} of header ${index + 1}`}
            placeholder={isFromEnvironment ? 'HANDLER_KEY' : 'Value'}
            value={value}
            spellcheck={false}
            readOnly={isReadOnly}
            onInput={(event) => set(index, { value: event.currentTarget.value })}
          />
          <Button
            kind="quiet"
            icon="cross"
            name={`Remove header ${index + 1}`}
            refusal={readOnlyRefusal}
            onClick={() => onChange(headers.filter((_, each) => each !== index))}
          />
        </div>
      ))}
      <div class="row">
        <Button
          small
          icon="plus"
          refusal={readOnlyRefusal}
          onClick={() => onChange([...headers, { key: '', value: '', isFromEnvironment: false }])}
        >
          Add header
        </Button>
      </div>
    </div>
  );
}
