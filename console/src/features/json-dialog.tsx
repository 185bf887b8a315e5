import { useState } from 'preact/hooks';
import { type Json, parseJsonText } from '../model/json.ts';
import { Button } from '../parts/button.tsx';
import { CodeEditor } from '../parts/code-editor.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ErrorBox } from '../parts/error-box.tsx';
import type { ComponentChildren } from 'preact';
import { failureOf } from '../api/failure.ts';
import { isReadOnly, READ_ONLY_REASON } from '../api/settings.ts';
import { shownError } from '../parts/shown-error.ts';

/** A dialog with a JSON editor. Invalid or rejected text stays in the editor. */
export function JsonDialog({
  title,
  text: initial,
  action,
  children,
  onClose,
  onSubmit,
}: {
  readonly title: string;
  /** Stored value, which can be submitted once it is changed; empty for a new one. Never an example. */
  readonly text: string;
  readonly action: string;
  readonly children?: ComponentChildren;
  onClose(): void;
  /** @throws Error with the reason why the value is rejected */
  onSubmit(json: Json): Promise<void>;
}) {
  const [text, setText] = useState(initial);
  const [failure, setFailure] = useState<ReturnType<typeof failureOf>>();
  const refusal = isReadOnly ? READ_ONLY_REASON : text.trim() === '' ? 'Enter JSON' : text === initial ? 'No changes' : undefined;
  const submit = async (): Promise<void> => {
    if (refusal !== undefined) return;
    setFailure(undefined);
    try {
      await onSubmit(parseJsonText(text));
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
      onEdit={() => setFailure(undefined)}
      isEdited={text !== initial}
      footer={(close) => (
        <>
          <Button kind="primary" refusal={refusal} onClick={() => void submit()}>
            {action}
          </Button>
          <Button onClick={close}>Cancel</Button>
        </>
      )}
    >
      {children}
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      <CodeEditor name={title} language="json" height="20rem" value={text} onChange={setText} onRun={() => void submit()} />
    </Dialog>
  );
}
