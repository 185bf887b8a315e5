import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { Icon } from './icon.tsx';

/** A label with its control, which has to use the id that `children` receives. */
export function Field({
  label,
  hint,
  error,
  children,
}: {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  children(id: string): ComponentChildren;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(id)}
      {hint !== undefined && <span class="hint">{hint}</span>}
      {error !== undefined && (
        <span class="error-text" role="alert">
          {error}
        </span>
      )}
    </div>
  );
}

export function Check({
  label,
  checked,
  disabled,
  title,
  onChange,
}: {
  readonly label: ComponentChildren;
  readonly checked: boolean;
  readonly disabled?: boolean;
  readonly title?: string;
  onChange(checked: boolean): void;
}) {
  return (
    <label class="check" title={title}>
      <input type="checkbox" checked={checked} disabled={disabled} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}

export function Search({
  name,
  value,
  placeholder,
  onInput,
  onEnter,
}: {
  readonly name: string;
  readonly value: string;
  readonly placeholder?: string;
  onInput(value: string): void;
  onEnter?: () => void;
}) {
  return (
    <div class="search grow">
      <Icon name="search" />
      <input
        class="input"
        type="search"
        aria-label={name}
        placeholder={placeholder ?? name}
        data-filter
        spellcheck={false}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onEnter?.();
        }}
      />
    </div>
  );
}
