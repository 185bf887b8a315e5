import type { ComponentChildren } from 'preact';
import { Field } from './field.tsx';

interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly hint?: ComponentChildren;
  readonly wrong?: string | undefined;
  readonly placeholder?: string;
  readonly readOnly?: boolean;
  readonly required?: boolean;
  /** `number`: a short field, for digits; `secret`: what is written is not shown. */
  readonly kind?: 'text' | 'number' | 'secret';
  /** Of more than one line where it is given. */
  readonly rows?: number;
  readonly class?: string;
  onInput(value: string): void;
}

/** A line, or some lines, of text that is no prose: names, addresses, numbers. */
export function TextField({ label, hint, wrong, kind = 'text', rows, class: extra, onInput, ...rest }: TextFieldProps) {
  const shape = `${kind === 'number' ? ' number-input' : ''}${extra === undefined ? '' : ` ${extra}`}`;
  return (
    <Field label={label} hint={hint} wrong={wrong}>
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
