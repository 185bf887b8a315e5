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

/** Above a text that is shown in one of several forms: which one, and a button that copies it. */
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
  /** What else can be done with it. */
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
