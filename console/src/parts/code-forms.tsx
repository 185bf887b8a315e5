import type { ComponentChildren } from 'preact';
import { copyText } from '../browser/clipboard.ts';
import { Button } from './button.tsx';
import { Segments } from './tabs.tsx';

export function CopyButton({ text }: { readonly text: string }) {
  return (
    <Button small icon="copy" onClick={() => void copyText(text)}>
      Copy
    </Button>
  );
}

/** Toolbar of a code block: choice of a format, and a copy button. */
export function CodeForms<const T extends string>({
  name,
  options,
  chosen,
  text,
  children,
  onChoose,
}: {
  readonly name: string;
  readonly options: readonly (readonly [T, string])[];
  readonly chosen: NoInfer<T>;
  readonly text: string;
  /** More buttons. */
  readonly children?: ComponentChildren;
  onChoose(form: NoInfer<T>): void;
}) {
  return (
    <div class="row">
      <Segments name={name} options={options} chosen={chosen} onChoose={onChoose} />
      <span class="grow" />
      <CopyButton text={text} />
      {children}
    </div>
  );
}
