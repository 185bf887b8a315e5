import { useState } from 'preact/hooks';
import { type Json, parseJson } from '../model/json.ts';
import { Button } from '../parts/button.tsx';
import { CodeEditor } from '../parts/code-editor.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ErrorBox } from '../parts/error-box.tsx';
import type { ComponentChildren } from 'preact';
import { failureOf } from '../api/failure.ts';
import { isReadOnly, READ_ONLY_REASON } from '../api/settings.ts';
import { shownError } from '../parts/shown-error.ts';

/** JSON is written and handed over; what cannot be read, or is refused, stays in the editor. */
export function JsonDialog({
  title,
  text: initial,
  action,
  children,
  onClose,
  onSubmit,
}: {
  readonly title: string;
  /** The stored value, which can be sent once it is changed; empty for a new one. Never an example. */
  readonly text: string;
  readonly action: string;
  readonly children?: ComponentChildren;
  onClose(): void;
  /** @throws Error why it is refused */
  onSubmit(json: Json): Promise<void>;
}) {
  const [text, setText] = useState(initial);
  const [failure, setFailure] = useState<ReturnType<typeof failureOf>>();
  const refusal = isReadOnly
    ? READ_ONLY_REASON
    : text.trim() === ''
      ? 'Nothing is written yet'
      : text === initial
        ? 'Nothing is changed'
        : undefined;
  const submit = async (): Promise<void> => {
    if (refusal !== undefined) return;
    setFailure(undefined);
    try {
      await onSubmit(parseJson(text));
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  return (
    <Dialog
      title={title}
      kind="wide"
      onClose={onClose}
      onSubmit={() => void submit()}
      footer={
        <>
          <Button kind="primary" refusal={refusal} onClick={() => void submit()}>
            {action}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </>
      }
    >
      {children}
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      <CodeEditor name={title} language="json" height="320px" value={text} onChange={setText} onRun={() => void submit()} />
    </Dialog>
  );
}
