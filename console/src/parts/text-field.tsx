import type { ComponentChildren } from 'preact';
import { Field } from './field.tsx';

interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  readonly placeholder?: string;
  readonly readOnly?: boolean;
  readonly required?: boolean;
  /** `number` is a short field for digits; `secret` hides the text. */
  readonly kind?: 'text' | 'number' | 'secret';
  /** Lines of a text area; one line without it. */
  readonly rows?: number;
  readonly class?: string;
  onInput(value: string): void;
}

/** A field for names, URLs and numbers, without spell checking. */
export function TextField({ label, hint, error, kind = 'text', rows, class: extra, onInput, ...rest }: TextFieldProps) {
  const shape = `${kind === 'number' ? ' number-input' : ''}${extra === undefined ? '' : ` ${extra}`}`;
  return (
    <Field label={label} hint={hint} error={error}>
      {(id) => {
        const common = {
          id,
          spellcheck: false,
          onInput: (event: { readonly currentTarget: { readonly value: string } }) => onInput(event.currentTarget.value),
          ...rest,
        };
        if (rows !== undefined) return <textarea class={`textarea${shape}`} rows={rows} {...common} />;
        if (kind === 'secret') return <input class={`input${shape}`} type="password" autocomplete="off" {...common} />;
        return <input class={`input${shape}`} inputMode={kind === 'number' ? 'numeric' : 'text'} autocomplete="off" {...common} />;
      }}
    </Field>
  );
}
